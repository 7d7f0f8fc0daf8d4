import { type Drift, findDrift, findOpenAccounts, type OpenAccount } from '#shared/db/recount-meters.ts'
import type { Ledger } from './context.ts'

const accountsAtOnce = 100
const batchesMax = 10
/** Rows that a turn reads, on average: those of a larger account are read at once, and as many turns are left out. */
const capturesMax = 100_000
/** The meters whose sum is the number of an account's rows. */
const rowMeters: ReadonlySet<Drift['meter']> = new Set(['admitted', 'waiting'])

/** The first accounts, until they have this number of captures; one at least. */
const firstWith = (accounts: readonly OpenAccount[], captures: number): OpenAccount[] => {
  let sum = 0
  return accounts.filter((account) => {
    const isTaken = sum < captures
    sum += account.captures
    return isTaken
  })
}

/**
 * A turn compares the meters of up to 1000 accounts with open lanes, and with 100,000 captures, with their rows; the next turn continues
 * after the last account. If a comparison fails, it continues too, so that one account keeps no drift of others unseen.
 */
export const createMeterCheck = ({ database, events }: Pick<Ledger, 'database' | 'events'>) => {
  let after: string | undefined
  let drifted = 0
  let unspent = 0
  /** Resolves to the number of rows, of which wrong meters told another one. */
  const compare = async (accounts: readonly OpenAccount[]): Promise<number> => {
    const drift = await findDrift(
      database,
      accounts.map(({ id }) => id),
    )
    drifted += drift.reduce((sum, { counted, actual }) => sum + Math.abs(counted - actual), 0)
    for (const [accountId, meters] of Map.groupBy(drift, (each) => each.accountId)) {
      events.metersDiffer(
        accountId,
        meters.map(({ meter, part, counted, actual }) => ({ meter, part, counted, actual })),
      )
    }
    const missed = drift.reduce(
      (sum, { meter, counted, actual }) => sum + (rowMeters.has(meter) ? actual - counted : 0),
      0,
    )
    return accounts.reduce((sum, { captures }) => sum + captures, missed)
  }
  return async (): Promise<void> => {
    unspent = Math.min(unspent, 0) + capturesMax
    for (let batch = 0; batch < batchesMax && unspent > 0; batch += 1) {
      const found = await findOpenAccounts(database, { limit: accountsAtOnce, after })
      const accounts = firstWith(found, unspent)
      after = accounts.at(-1)?.id
      unspent -= await compare(accounts)
      if (accounts.length === accountsAtOnce || accounts.length < found.length) continue
      events.metersChecked(drifted)
      after = undefined
      drifted = 0
      return
    }
  }
}
