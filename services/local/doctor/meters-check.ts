import { type Database, openDatabase } from '#shared/db/connection.ts'
import type { PasswordSource } from '#shared/db/password.ts'
import { type Drift, findDrift, findOpenAccounts, recountMeters } from '#shared/db/recount-meters.ts'
import type { Check } from './check.ts'

const accountsAtOnce = 100
/** Bounds the check to 100,000 accounts with captures in the queue. */
const batchesMax = 1000

const findAllDrift = async (database: Database) => {
  const drift: (Drift & { accountId: string })[] = []
  let [after, count]: [string | undefined, number] = [undefined, 0]
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const found = await findOpenAccounts(database, { limit: accountsAtOnce, after })
    const accounts = found.map(({ id }) => id)
    drift.push(...(await findDrift(database, accounts)))
    count += accounts.length
    after = accounts.at(-1)
    if (accounts.length < accountsAtOnce) break
  }
  return { drift, count }
}

const describeDrift = (accountId: string, drift: readonly Drift[]) =>
  `${accountId}: ${drift.map(({ meter, part, counted, actual }) => `${meter} ${part} ${counted} instead of ${actual}`).join(', ')}`

type Options = {
  readonly databaseUrl: string
  readonly password?: PasswordSource | undefined
  readonly recount: boolean
}

/** Compares meters with the captures in the queue; with `recount` corrects those that differ. */
export const metersCheck = ({ databaseUrl: url, password, recount }: Options): Check => ({
  name: 'meters',
  advice: "run 'bin/shutterfleet doctor --recount', or recount single accounts in the administration",
  run: async () => {
    await using database = openDatabase({ url, password, poolMax: 2 })
    const { drift, count } = await findAllDrift(database)
    const wrong = Map.groupBy(drift, ({ accountId }) => accountId)
    if (wrong.size === 0) return `the meters of ${count} accounts match their captures in the queue`
    const words = [...wrong].slice(0, 3).map(([accountId, all]) => describeDrift(accountId, all))
    if (!recount)
      throw new Error(`the meters of ${wrong.size} accounts differ from their captures: ${words.join('; ')}`)
    for (const accountId of wrong.keys()) await recountMeters(database, accountId, 'command line')
    return `the meters of ${wrong.size} accounts differed and have been recounted: ${words.join('; ')}`
  },
})
