import type { Lane } from '#shared/capture/lane.ts'
import { type Forecast, forecast, type Load, type Workers } from '#cli/simulation/forecast.ts'

/** The fewest workers that a pool must keep, and what becomes of the load then. */
export type Size = {
  readonly workers: Workers
  readonly forecast: Forecast
  /** Whether 95 % of the lane's captures wait as long as they may. */
  readonly isMet: boolean
  /** p95 of the waits in milliseconds without a larger minimum; `Infinity` if the load is too much. */
  readonly firstP95Ms: number
}

/** `Infinity` if more than one of twenty captures has not begun at the end. */
const p95Of = ({ waits, unbegun }: Forecast, lane: Lane): number => {
  const begun = waits.reduce((sum, { captures }) => sum + captures, 0)
  if (unbegun * 19 > begun) return Number.POSITIVE_INFINITY
  return waits.find((each) => each.lane === lane)?.p95Ms ?? 0
}

/**
 * The smallest minimum of workers with which 95 % of a lane's captures wait at most `waitMs`: the law itself meets a steady load; a burst
 * that comes more quickly than workers start is met only by those that wait for it.
 */
export const findSize = (
  load: Load,
  workers: Workers,
  target: { readonly lane: Lane; readonly waitMs: number },
): Size => {
  const first = forecast(load, workers)
  const firstP95Ms = p95Of(first, target.lane)
  if (firstP95Ms <= target.waitMs) return { workers, forecast: first, isMet: true, firstP95Ms }
  const forecastOf = (least: number) => ({
    workers: { ...workers, least },
    forecast: forecast(load, { ...workers, least }),
  })
  let [tooFew, enough] = [workers.least, first.mostWorkers]
  let found = forecastOf(enough)
  if (p95Of(found.forecast, target.lane) > target.waitMs) return { ...found, isMet: false, firstP95Ms }
  while (enough - tooFew > 1) {
    const tried = forecastOf(Math.floor((tooFew + enough) / 2))
    if (p95Of(tried.forecast, target.lane) > target.waitMs) tooFew = tried.workers.least
    else {
      enough = tried.workers.least
      found = tried
    }
  }
  return { ...found, isMet: true, firstP95Ms }
}
