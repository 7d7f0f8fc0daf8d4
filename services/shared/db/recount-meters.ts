import { findAccount } from './accounts.ts'
import { type Actor, noteChange } from './audit.ts'
import { type Database, onlyRow, type Sql } from './connection.ts'

/** A meter of an account that differs from its rows. `part`: pool/lane, or the period of `reserved`. */
export type Drift = {
  readonly meter: 'pending' | 'admitted' | 'waiting' | 'processing' | 'reserved'
  readonly part: string
  /** The meter's value. */
  readonly counted: number
  /** The number of rows. */
  readonly actual: number
}

/** An account with open lanes; `captures`: the number of its rows that a comparison reads, by its meters. */
export type OpenAccount = { readonly id: string; readonly captures: number }

/** Returns at most `limit` accounts with open lanes, by ascending ids, greater than `after` if given. */
export const findOpenAccounts = (
  database: Sql,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<OpenAccount[]> =>
  database.query(
    `select account_id as id, greatest(sum(admitted + waiting), 0)::float8 as captures from lane_meter
      where stage > 0 and ($2::uuid is null or account_id > $2) group by 1 order by 1 limit $1`,
    [limit, after ?? null],
  )

/** Returns the meters of these accounts that differ from the rows; see `sql/recount-meters.sql`. Takes no lock. */
export const findDrift = (
  database: Sql,
  accountIds: readonly string[],
): Promise<(Drift & { readonly accountId: string })[]> =>
  database.query(
    `select account_id as "accountId", meter, part, counted::float8, actual::float8 from meter_drift($1::uuid[])`,
    [accountIds],
  )

/** Sets an account's meters to the numbers of its rows, under their lock. Returns what was wrong. Throws `NOT_FOUND`. */
export const recountMeters = async (database: Database, accountId: string, actor: Actor): Promise<readonly Drift[]> => {
  await database.entities((entities) => findAccount(entities, accountId))
  const statement = 'select recount_meters($1) as drift'
  const { drift } = onlyRow(
    await database.query<{ drift: readonly (Drift & { account_id: string })[] }>(statement, [accountId]),
  )
  const corrected = drift.map(({ meter, part, counted, actual }) => ({ meter, part, counted, actual }))
  await noteChange(database, { actor, action: 'meters.recount', target: accountId, detail: { corrected } })
  return corrected
}
