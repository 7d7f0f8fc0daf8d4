import type { Sql } from '#shared/db/connection.ts'

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

const describe = `select a.id, a.name, a.email, json_build_object(
    'name', p.name, 'slug', p.slug, 'screenshotsPerMonth', p.screenshots_per_month,
    'rateLimitPerMinute', p.rate_limit_per_minute, 'retentionSeconds', p.retention_seconds, 'features', p.features,
    'overagePrice', p.overage_price::text, 'maxApiKeys', p.max_api_keys, 'priceMonthly', p.price_monthly::text,
    'currency', p.currency) as plan
  from account a join plan p on p.slug = a.plan where a.id = $1`

/** An account with the plan that is in force for it now; undefined where there is none. */
export const describeAccount = async (database: Sql, accountId: string): Promise<DescribedAccount | undefined> => {
  const [row] = await database.query<DescribedAccount>(describe, [accountId])
  return row
}
