import type { Mutation } from './mutation.ts'

/** Against the points of batch, list, links, account and usage. */
export const reads: readonly Mutation[] = []
