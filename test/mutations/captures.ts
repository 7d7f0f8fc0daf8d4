import type { Mutation } from './mutation.ts'

/** Against the points of the capture operations: what is asked. */
export const captures: readonly Mutation[] = []
