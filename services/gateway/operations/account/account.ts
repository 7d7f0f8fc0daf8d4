import type { DescribedAccount } from '#gateway/db/describe-account.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { usualErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { timesExactly } from './times-exactly.ts'

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

/** The caller's account with the plan that is in force for it. */
export const showAccount = forCaller({
  name: 'account',
  method: 'GET',
  path: '/account',
  tag: 'Account',
  summary: 'Show the account',
  description: 'The account of the key, with the plan that is in force for it.',
  answers: { 200: jsonAnswer('The account.', 'AccountAnswer') },
  errors: [...usualErrors, 'Forbidden', 'Invalid'],
  run: async (context, { caller }) => {
    const account = await context.captures.describeAccount(caller.accountId)
    // Its keys went with it, after this one was checked.
    if (!account) throw new AppError('INVALID_API_KEY')
    const { id, name, email } = account
    return { status: 200, body: { data: { id, name, email, plan: planOf(account), subscription: null } } }
  },
})
