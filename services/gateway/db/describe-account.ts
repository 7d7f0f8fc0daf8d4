import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** An account and its plan. Null where the plan has no such limit or price; prices are exact decimals as text. */
export type DescribedAccount = {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly plan: {
    readonly name: string
    readonly slug: string
    readonly screenshotsPerMonth: number | null
    readonly rateLimitPerMinute: number | null
    readonly retentionSeconds: number
    readonly features: readonly string[]
    readonly overagePrice: string | null
    readonly maxApiKeys: number | null
    readonly priceMonthly: string | null
    readonly currency: string | null
  }
}

const describe = readStatement(import.meta.dirname, 'sql/describe-account.sql')

/** An account with the plan that is in force for it now; undefined where there is none. */
export const describeAccount = async (database: Sql, accountId: string): Promise<DescribedAccount | undefined> => {
  const [row] = await database.query<DescribedAccount>(describe, [accountId])
  return row
}
