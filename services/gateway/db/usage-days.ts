import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

const statement = readStatement(import.meta.dirname, 'sql/list-usage-days.sql')

/** A number of captures that were accepted on a UTC day; `deleted`: while they ran, and charged. */
export type DayOutcome = {
  /** ISO date. */
  readonly day: string
  readonly outcome: 'completed' | 'cached' | 'deleted' | CaptureErrorCode
  readonly captures: number
}

/** What an account's captures became: at most one entry per outcome of each of the `days` days up to `last`, an ISO date. */
export const listUsageDays = (
  database: Sql,
  accountId: string,
  { last, days }: { readonly last: string; readonly days: number },
): Promise<DayOutcome[]> => database.query<DayOutcome>(statement, [accountId, last, days])
