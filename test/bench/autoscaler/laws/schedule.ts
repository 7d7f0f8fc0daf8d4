import type { Sight } from '#cli/simulation/sight.ts'

/** A number of captures that a law scales on. */
export type Metric = (sight: Sight) => number

/** Captures that wait or run: what `shutterfleet_pool_captures_unfinished` counts, and NATS as pending plus ack pending. */
export const unfinished: Metric = ({ waiting, running }) => waiting + running
/** Captures that wait: what `shutterfleet_pool_captures_waiting` counts. */
export const waitingOnly: Metric = ({ waiting }) => waiting

/** Whether it is time for a loop of `everyMs` ms to run, for the first time `offsetMs` after the first call. */
export const createSchedule = (everyMs: number, offsetMs = 0): ((nowMs: number) => boolean) => {
  let nextMs: number | undefined
  return (nowMs) => {
    nextMs ??= nowMs + offsetMs
    if (nowMs < nextMs) return false
    nextMs += everyMs * (Math.floor((nowMs - nextMs) / everyMs) + 1)
    return true
  }
}

/** The metric as of the last scrape of `everyMs` ms; 0: as of now. Call it at each evaluation. */
export const scraped = (metric: Metric, everyMs: number): Metric => {
  if (everyMs === 0) return metric
  const isDue = createSchedule(everyMs)
  let value = 0
  return (sight) => {
    if (isDue(sight.nowMs)) value = metric(sight)
    return value
  }
}

/** The longest step in ms that meets all of the periods and offsets, of which zeros count as none. */
export const commonStepMs = (first: number, ...others: readonly number[]): number =>
  others.reduce((step, each) => {
    let [greater, less] = [step, each]
    while (less > 0) [greater, less] = [less, greater % less]
    return greater
  }, first)
