import type { Mutation } from './mutation.ts'

/** Against the points of webhooks and administration. */
export const webhooks: readonly Mutation[] = []
