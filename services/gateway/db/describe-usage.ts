import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

type UsageRow = {
  readonly accountId: string
  readonly used: number
  readonly limit: number | null
  readonly pending: number
  readonly processing: number
}

const statement = readStatement(import.meta.dirname, 'sql/describe-usage.sql')

/** Adds to accounts as JSON what they have used this month, with their plan's quota, and their captures that wait and run. */
export const withUsage = async <Account extends { readonly id: string }>(
  database: Sql,
  accounts: readonly Account[],
) => {
  const rows = await database.query<UsageRow>(statement, [accounts.map(({ id }) => id)])
  const byId = new Map(rows.map((row) => [row.accountId, row]))
  return accounts.map((account) => {
    const { used = 0, limit = null, pending = 0, processing = 0 } = byId.get(account.id) ?? {}
    return { ...account, usage: { screenshots_used: used, screenshots_limit: limit }, queue: { pending, processing } }
  })
}
