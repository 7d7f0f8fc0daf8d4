import type { Mutation } from './mutation.ts'

/** Against the points of the capture operations: what comes of it. */
export const results: readonly Mutation[] = []
