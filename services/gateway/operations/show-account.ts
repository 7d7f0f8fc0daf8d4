import type { DescribedAccount } from '#shared/db/describe-account.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { timesExactly } from '#gateway/answer/times-exactly.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import type { Operation } from './operation.ts'

const hourSeconds = 3600
/** What a year costs, in months: two are free. */
const monthsPaid = 10

const planOf = ({ plan }: DescribedAccount) => ({
  name: plan.name,
  slug: plan.slug,
  screenshots_per_month: plan.screenshotsPerMonth,
  rate_limit_per_minute: plan.rateLimitPerMinute,
  retention_hours: plan.retentionSeconds / hourSeconds,
  features: plan.features,
  overage_price: plan.overagePrice,
  max_api_keys: plan.maxApiKeys,
  price_monthly: plan.priceMonthly,
  price_yearly: plan.priceMonthly === null ? null : timesExactly(plan.priceMonthly, monthsPaid),
  currency: plan.currency,
})

/** `GET /account`: the caller's account with the plan that is in force for it. */
export const showAccount: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  const account = await context.captures.describeAccount(accountId)
  // Its keys went with it, after this one was checked.
  if (!account) throw new AppError('INVALID_API_KEY')
  const { id, name, email } = account
  return { status: 200, body: { data: { id, name, email, plan: planOf(account), subscription: null } } }
}
