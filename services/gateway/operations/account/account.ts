import { AppError } from '#shared/errors/app-error.ts'
import { describeAccount } from '#gateway/db/describe-account.ts'
import { accountAnswer, usageAnswer, type Usage } from '#gateway/records/account.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { checkRange } from '#gateway/http/time-range.ts'
import { forCaller, type Operation } from '#gateway/operations/operation.ts'
import type { UsageState } from '#shared/db/check-request.ts'
import { describeUsageDays, usageParameters } from './usage-days.ts'

/** Multiplies a decimal price exactly by an integer from 0. The result has as many decimals as the price. */
export const multiplyDecimal = (price: string, times: number): string => {
  const [whole = '', fraction = ''] = price.split('.')
  const digits = String(BigInt(whole + fraction) * BigInt(times)).padStart(fraction.length + 1, '0')
  if (fraction === '') return digits
  return `${digits.slice(0, -fraction.length)}.${digits.slice(-fraction.length)}`
}

/** Per cent with two decimals, rounded down, so that only the last capture of the quota reaches 100. */
const percentageOf = (used: number, limit: number | null): number | null => {
  if (limit === null) return null
  return limit === 0 ? 100 : Math.floor((used * 10_000) / limit) / 100
}

/** The contract's usage record. Without an overage price, overage costs nothing. */
export const usageRecord = (usage: UsageState): Usage => ({
  screenshots_used: usage.used,
  screenshots_limit: usage.limit,
  screenshots_remaining: usage.remaining,
  usage_percentage: percentageOf(usage.used, usage.limit),
  period_start: usage.periodStart,
  period_end: usage.resetAt,
  overage: usage.overage,
  overage_cost: usage.overagePrice === null ? '0' : multiplyDecimal(usage.overagePrice, usage.overage),
})

/** The operations on the key's account and its usage. */
export const accountOperations: readonly Operation[] = [
  forCaller({
    name: 'account',
    method: 'GET',
    path: '/account',
    scopes: ['read'],
    tag: 'Account',
    summary: 'Show the account',
    description: 'Returns the account of the API key, with its current plan.',
    answers: { 200: jsonAnswer('The account.', accountAnswer) },
    run: async (context, { caller }) => {
      const data = await describeAccount(context.database, caller.accountId)
      // The account was erased with its keys after the key was checked.
      if (!data) throw new AppError('INVALID_API_KEY')
      return { status: 200, body: { data } }
    },
  }),
  forCaller({
    name: 'usage',
    method: 'GET',
    path: '/account/usage',
    scopes: ['read'],
    tag: 'Account',
    summary: 'Show the usage',
    description:
      'Returns the usage of the account in the current period, as in the headers of the same response, and by day if requested by `from` or `to`. Days are those of acceptance, in UTC, and are kept for 400 days.',
    query: usageParameters,
    checkQuery: checkRange,
    answers: { 200: jsonAnswer('The usage.', usageAnswer) },
    run: async (context, { caller, query }) => {
      const database = context.replica.asOf(caller)
      const days = await describeUsageDays({ database, now: context.now }, caller.accountId, query)
      return { status: 200, body: { data: { ...usageRecord(caller.usage), ...days } } }
    },
  }),
]
