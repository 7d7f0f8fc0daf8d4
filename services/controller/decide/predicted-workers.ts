import { minuteMs, predictedLanes } from '#shared/policy/predict-arrivals.ts'
import { serviceMsOf } from './load.ts'
import type { Load, Observation, PoolPolicy } from './pool.ts'
import { defaultStartMs } from './required-capacity.ts'
import { staff, steadyShare } from './staffing.ts'

/** Workers are ready for the minute after the one that begins: within a minute the time is not known at which captures come. */
const earlyMs = minuteMs
/** Captures do not come as predicted if for this long less than this share of them came lately. */
const absence = { forMs: minuteMs, share: 0.5 }
/** Slots below which nothing counts as predicted lately, so that one absence has no effect on the next occurrence. */
const negligibleSlots = 0.01

/** When captures last came as predicted. On a holiday they do not. */
export const followPrediction = (lastMs: number, load: Load | undefined, nowMs: number): number => {
  const sum = (mean: 'slow' | 'predicted') =>
    predictedLanes.reduce((total, lane) => total + (load?.[lane][mean] ?? 0), 0)
  const predicted = sum('predicted')
  return predicted < negligibleSlots || sum('slow') >= absence.share * predicted ? nowMs : lastMs
}

/**
 * Workers for the captures that are predicted until a worker that is requested now has started, so that those find it ready; as many as
 * `requiredCapacity` requires of such a load. 0 without a prediction, or if captures do not come as predicted: `lastMs` is
 * when they last did.
 */
export const predictedWorkers = (observation: Observation, lastMs: number, policy: PoolPolicy): number => {
  const { backlog, nowMs, startMs = defaultStartMs, otherPools } = observation
  if (!policy.isPredicting || backlog === 'unknown' || backlog.intoMinuteMs === undefined) return 0
  if (nowMs >= lastMs + absence.forMs) return 0
  const intoMs = backlog.intoMinuteMs + nowMs - backlog.atMs
  const last = Math.floor((intoMs + startMs + earlyMs) / minuteMs)
  const most = policy.max * policy.slots + otherPools.slots
  let slots = 0
  for (let minute = Math.floor(intoMs / minuteMs); minute <= last; minute += 1) {
    let [perMs, busy] = [0, 0]
    for (const lane of predictedLanes) {
      const arriving = (backlog.lanes[lane].predicted?.[minute] ?? 0) / minuteMs
      perMs += arriving
      busy += arriving * serviceMsOf(lane, observation)
      const waitMs = policy.objectivesMs[lane] * steadyShare
      slots = Math.max(slots, staff(busy, { serviceMs: busy / perMs, waitMs, most }))
    }
  }
  return Math.ceil(Math.max(0, slots - otherPools.slots) / policy.slots)
}
