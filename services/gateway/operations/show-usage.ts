import type { UsageState } from '#shared/db/accept-capture.ts'
import { timesExactly } from '#gateway/answer/times-exactly.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import type { Operation } from './operation.ts'

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

/** `GET /account/usage`: what the account has used of its running period, as the headers of this very answer say it. */
export const showUsage: Operation = async (context, exchange) => {
  const { usage } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  return { status: 200, body: { data: usageRecord(usage) } }
}
