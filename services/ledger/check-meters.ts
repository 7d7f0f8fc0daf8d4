import { findDrift, findOpenAccounts } from '#shared/db/recount-meters.ts'
import type { Ledger } from './context.ts'

const accountsAtOnce = 100
const batchesMax = 10

/** A turn compares the meters of up to 1000 accounts with open lanes with their rows; the next turn continues after the last account. */
export const createMeterCheck = ({ database, events }: Pick<Ledger, 'database' | 'events'>) => {
  let after: string | undefined
  let drifted = 0
  return async (): Promise<void> => {
    for (let batch = 0; batch < batchesMax; batch += 1) {
      const accounts = await findOpenAccounts(database, { limit: accountsAtOnce, after })
      const drift = await findDrift(database, accounts)
      drifted += drift.reduce((sum, { counted, actual }) => sum + Math.abs(counted - actual), 0)
      for (const [accountId, meters] of Map.groupBy(drift, (each) => each.accountId)) {
        events.metersDiffer(
          accountId,
          meters.map(({ meter, part, counted, actual }) => ({ meter, part, counted, actual })),
        )
      }
      after = accounts.at(-1)
      if (accounts.length === accountsAtOnce) continue
      events.metersChecked(drifted)
      after = undefined
      drifted = 0
      return
    }
  }
}
