import { byLane, type Lane } from '#shared/capture/lane.ts'
import { minuteMs } from '#shared/policy/predict-arrivals.ts'
import type { LaneLoad, Load, Observation, PoolPolicy } from './pool.ts'

/** Assumed until the first capture was measured. */
const defaultServiceMs = 3000
/** Time constants of the two means. */
const quickMsOf = (objectiveMs: number): number => objectiveMs / 2
const slowMsOf = (objectiveMs: number, holdMs: number): number => Math.max(2.5 * holdMs, objectiveMs)
/** Standard deviations of chance that are subtracted from the short and from the long mean. */
const certainty = { quick: 2.5, slow: 1 }

/** Milliseconds of a capture of a lane in its slot. */
export const serviceMsOf = (
  lane: Lane,
  { laneServiceMs, serviceMs }: Pick<Observation, 'laneServiceMs' | 'serviceMs'>,
): number => laneServiceMs[lane] ?? serviceMs ?? defaultServiceMs

/** Moves an exponential mean with the time constant `constantMs`; a mean of a shorter history is the plain one. */
const move = (
  mean: number,
  value: number,
  times: { readonly passedMs: number; readonly ageMs: number },
  constantMs: number,
) => mean + (value - mean) * Math.max(1 - Math.exp(-times.passedMs / constantMs), times.passedMs / times.ageMs)

/**
 * Estimates with the ledger's latest counts; the same ones if there are no new ones. They begin at 0 with the first service time that was
 * measured.
 */
export const followLoad = (
  before: Load | undefined,
  observation: Observation,
  { objectivesMs, holdMs }: PoolPolicy,
): Load | undefined => {
  const { backlog } = observation
  if (backlog === 'unknown' || (before && backlog.atMs <= before.atMs)) return before
  const { lanes, atMs } = backlog
  const isFirst = observation.serviceMs === undefined || before === undefined
  const sinceMs = isFirst ? atMs : before.sinceMs
  const passedMs = before ? atMs - before.atMs : 0
  const estimates = byLane((lane): LaneLoad => {
    const { accepted, predicted: [predicted = 0] = [] } = lanes[lane]
    if (isFirst) return { accepted, quick: 0, slow: 0, predicted: 0 }
    const last = before[lane]
    // The count falls when a database is restored.
    const serviceMs = serviceMsOf(lane, observation)
    const load = (Math.max(0, accepted - last.accepted) * serviceMs) / passedMs
    const times = { passedMs, ageMs: atMs - sinceMs }
    const slowMs = slowMsOf(objectivesMs[lane], holdMs)
    return {
      accepted,
      quick: move(last.quick, load, times, quickMsOf(objectivesMs[lane])),
      slow: move(last.slow, load, times, slowMs),
      predicted: move(last.predicted, (predicted * serviceMs) / minuteMs, times, slowMs),
    }
  })
  return { ...estimates, sinceMs, atMs }
}

/** A load in slots: what it certainly is, and its long mean. */
type ExpectedLoad = { readonly certain: number; readonly mean: number }

/** A lane's captures, and times in milliseconds. */
type LaneState = Readonly<Record<'serviceMs' | 'objectiveMs' | 'holdMs' | 'waiting' | 'running', number>>

/**
 * The load of a lane. `certain` rises at once with a burst: it is the short or the long mean less what chance explains. An exponential mean
 * of Poisson arrivals with the time constant T has the variance `load * service / 2T`. The short mean, and the long one until its time has
 * passed, are no more than the captures that run and, spread over the objective, those that wait: a batch at once is no load that goes on.
 */
export const expectedLoad = (load: Load, lane: Lane, state: LaneState): ExpectedLoad => {
  const { quick, slow } = load[lane]
  const { serviceMs, objectiveMs, holdMs, waiting, running } = state
  const ageMs = load.atMs - load.sinceMs
  const slowMs = slowMsOf(objectiveMs, holdMs)
  const certain = (mean: number, constantMs: number, deviations: number) =>
    mean === 0 ? 0 : mean - deviations * Math.sqrt((mean * serviceMs) / (2 * Math.min(constantMs, ageMs)))
  const known = running + waiting * Math.min(1, serviceMs / objectiveMs)
  const most = ageMs < slowMs ? known : Number.POSITIVE_INFINITY
  const short = Math.min(known, certain(quick, quickMsOf(objectiveMs), certainty.quick))
  const long = Math.min(most, certain(slow, slowMs, certainty.slow))
  return { certain: Math.max(0, short, long), mean: Math.min(most, slow) }
}
