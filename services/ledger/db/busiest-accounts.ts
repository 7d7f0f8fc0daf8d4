import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** The captures of one account: not begun, begun and not ended, and completed in the current period. */
export type AccountCount = {
  readonly account: string
  readonly waiting: number
  readonly processing: number
  readonly completed: number
}

const accountsMax = 10

const statement = readStatement(import.meta.dirname, 'sql/busiest-accounts.sql')

/** Counts the captures of the ten accounts with most captures that have not ended; reads no captures. */
export const findBusiestAccounts = (database: Sql): Promise<AccountCount[]> => database.query(statement, [accountsMax])
