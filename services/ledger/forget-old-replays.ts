import { forgetReplays } from '#shared/db/forget-replays.ts'
import type { Ledger } from './context.ts'

const batchKeys = 1000
const batchesMax = 100

/** Forgets idempotency keys that no longer count. What is beyond this turn's bound waits for the next. */
export const forgetOldReplays = async ({ database }: Pick<Ledger, 'database'>): Promise<void> => {
  for (let batch = 0; batch < batchesMax; batch += 1) {
    if ((await forgetReplays(database, batchKeys)) < batchKeys) return
  }
}
