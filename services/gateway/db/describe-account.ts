import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import type { Account } from '#gateway/records/account.ts'

const statement = readStatement(import.meta.dirname, 'sql/describe-account.sql')

/** An account with its current plan; undefined if it does not exist. */
export const describeAccount = async (database: Sql, accountId: string): Promise<Account | undefined> => {
  const [row] = await database.query<Account>(statement, [accountId])
  return row
}
