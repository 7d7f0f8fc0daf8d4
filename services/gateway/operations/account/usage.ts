import type { UsageState } from '#shared/db/check-request.ts'
import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { usualErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { timesExactly } from './times-exactly.ts'

/** Per cent with two decimals, rounded down: 100 is reached by the last capture of the quota and not before. */
const percentageOf = (used: number, limit: number | null): number | null => {
  if (limit === null) return null
  return limit === 0 ? 100 : Math.floor((used * 10_000) / limit) / 100
}

/** The contract's usage record. What no plan charges costs nothing. */
export const usageRecord = (usage: UsageState): Record<string, unknown> => ({
  screenshots_used: usage.used,
  screenshots_limit: usage.limit,
  screenshots_remaining: usage.remaining,
  usage_percentage: percentageOf(usage.used, usage.limit),
  period_start: usage.periodStart,
  period_end: usage.resetAt,
  overage: usage.overage,
  overage_cost: usage.overagePrice === null ? '0' : timesExactly(usage.overagePrice, usage.overage),
})

/** What the account has used of its running period, equal to the headers of the same answer. */
export const showUsage = forCaller({
  name: 'usage',
  method: 'GET',
  path: '/account/usage',
  tag: 'Account',
  summary: 'Show the usage',
  description: 'What the account has used of its running period, as the headers of the same answer say it.',
  answers: { 200: jsonAnswer('The usage.', 'UsageAnswer') },
  errors: [...usualErrors, 'Forbidden', 'Invalid'],
  run: async (_context, { caller }) => ({ status: 200, body: { data: usageRecord(caller.usage) } }),
})
