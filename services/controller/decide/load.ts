import { byLane, type Lane } from '#shared/capture/lane.ts'
import type { LaneLoad, Load, Observation, PoolPolicy } from './pool.ts'

/** Assumed until the first capture was measured. */
const defaultServiceMs = 3000
const quickOf = (objectiveMs: number): number => objectiveMs / 2
const slowOf = (objectiveMs: number, holdMs: number): number => Math.max(2.5 * holdMs, objectiveMs)
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

/** Estimates with the ledger's latest counts; the same ones if there are no new ones, and from 0 until a service time was measured. */
export const followLoad = (
  before: Load | undefined,
  observation: Observation,
  { objectivesMs, holdMs }: PoolPolicy,
): Load | undefined => {
  const { backlog } = observation
  if (backlog === 'unknown' || (before && backlog.atMs <= before.atMs)) return before
  const { lanes, atMs } = backlog
  const isMeasured = observation.serviceMs !== undefined
  const sinceMs = before && isMeasured ? before.sinceMs : atMs
  const passedMs = before ? atMs - before.atMs : 0
  const estimates = byLane((lane): LaneLoad => {
    const last = before?.[lane]
    const accepted = lanes[lane].accepted ?? last?.accepted ?? 0
    if (!last || !isMeasured) return { accepted, quick: 0, slow: 0 }
    // The count falls when a database is restored.
    const load = (Math.max(0, accepted - last.accepted) * serviceMsOf(lane, observation)) / passedMs
    const times = { passedMs, ageMs: atMs - sinceMs }
    return {
      accepted,
      quick: move(last.quick, load, times, quickOf(objectivesMs[lane])),
      slow: move(last.slow, load, times, slowOf(objectivesMs[lane], holdMs)),
    }
  })
  return { ...estimates, sinceMs, atMs }
}

/** A load in slots: what it certainly is, and its long mean. */
type ExpectedLoad = { readonly certain: number; readonly mean: number }

/**
 * The load of a lane. `certain` rises at once with a burst: it is the short or the long mean less what chance explains, the short one at
 * most the captures that are known. An exponential mean of Poisson arrivals with the time constant T has the variance `load * service / 2T`.
 */
export const expectedLoad = (
  load: Load,
  lane: Lane,
  { serviceMs, objectiveMs, holdMs, known }: Readonly<Record<'serviceMs' | 'objectiveMs' | 'holdMs' | 'known', number>>,
): ExpectedLoad => {
  const { quick, slow } = load[lane]
  const ageMs = load.atMs - load.sinceMs
  const certain = (mean: number, constantMs: number, deviations: number) =>
    mean === 0 ? 0 : mean - deviations * Math.sqrt((mean * serviceMs) / (2 * Math.min(constantMs, ageMs)))
  const short = Math.min(known, certain(quick, quickOf(objectiveMs), certainty.quick))
  return { certain: Math.max(0, short, certain(slow, slowOf(objectiveMs, holdMs), certainty.slow)), mean: slow }
}
