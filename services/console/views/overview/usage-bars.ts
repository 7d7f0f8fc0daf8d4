import type { UsageDay } from '#client/responses.js'

const dayMs = 86_400_000
const [barStep, barGap, height] = [10, 3, 100]
/** Above this many times the highest bar the share of the quota would flatten the bars, so it is only named. */
const shareScaleMax = 4

/** Number of days that the chart shows, today included. */
const shownDays = 30

/** Path of the usage of the last days, in UTC. */
export const usagePath = (nowMs: number): string =>
  `/v1/account/usage?from=${new Date(nowMs - (shownDays - 1) * dayMs).toISOString().slice(0, 10)}`

/** A day of the chart: its charged and failed captures as parts of one bar, in the units of the box. */
type Bar = {
  readonly day: UsageDay
  readonly x: number
  readonly width: number
  readonly charged: { readonly y: number; readonly height: number }
  readonly failed: { readonly y: number; readonly height: number }
}

/** Bars from left to right in a box of `width` by 100; `shareY` is the height of the quota's share, undefined if it is not shown. */
export const usageBars = (
  days: readonly UsageDay[],
  share: number | undefined,
): {
  readonly width: number
  readonly most: number
  readonly bars: readonly Bar[]
  readonly shareY: number | undefined
} => {
  const highest = Math.max(1, ...days.map(({ charged, failed }) => charged + failed))
  const isShareShown = share !== undefined && share <= highest * shareScaleMax
  const most = isShareShown ? Math.max(highest, share) : highest
  const scale = (captures: number) => (captures / most) * height
  return {
    width: days.length * barStep,
    most,
    bars: days.map((day, index) => {
      const [charged, failed] = [scale(day.charged), scale(day.failed)]
      return {
        day,
        x: index * barStep + barGap / 2,
        width: barStep - barGap,
        charged: { y: height - charged, height: charged },
        failed: { y: height - charged - failed, height: failed },
      }
    }),
    shareY: isShareShown ? height - scale(share) : undefined,
  }
}

/** What each day may use of the quota if all days of the period use the same; undefined without a quota. */
export const quotaShare = (usage: {
  readonly screenshots_limit: number | null
  readonly period_start: string
  readonly period_end: string
}): number | undefined => {
  if (usage.screenshots_limit === null) return undefined
  return (usage.screenshots_limit * dayMs) / (Date.parse(usage.period_end) - Date.parse(usage.period_start))
}

/** Totals of the days; `successShare` is undefined if none has ended. `failures`: the most frequent first. */
export const sumDays = (days: readonly UsageDay[]) => {
  const sum = (field: 'charged' | 'completed' | 'cached' | 'failed') =>
    days.reduce((total, day) => total + day[field], 0)
  const [completed, failed] = [sum('completed'), sum('failed')]
  const byCode = Map.groupBy(
    days.flatMap(({ failures }) => failures),
    ({ code }) => code,
  )
  return {
    charged: sum('charged'),
    cached: sum('cached'),
    failed,
    successShare: completed + failed === 0 ? undefined : completed / (completed + failed),
    failures: [...byCode]
      .map(([code, each]) => ({ code, count: each.reduce((total, { count }) => total + count, 0) }))
      .toSorted((one, other) => other.count - one.count || one.code.localeCompare(other.code)),
  }
}
