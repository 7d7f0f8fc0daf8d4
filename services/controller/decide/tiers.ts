import { byLane, type Lane, lanes } from '#shared/capture/lane.ts'
import { expectedLoad, serviceMsOf } from './load.ts'
import type { Backlog, Load, Observation, PoolPolicy, Slots } from './pool.ts'

/** What is known of the captures of a queue. `waiting`: how many wait, as far as no slot is free for them. */
type Captures = Pick<Observation, 'depth' | 'otherPools' | 'serviceMs' | 'laneServiceMs'> & {
  readonly backlog: Backlog
  readonly load: Load | undefined
  readonly waiting: number
}

/**
 * Captures of some lanes that must begin within an objective. `load` and `meanLoad`: slots that the arrivals certainly, and on average, keep
 * busy, each for `serviceMs`. `waitingMs`: slot-milliseconds of those that wait.
 */
export type Tier = {
  readonly objectiveMs: number
  readonly serviceMs: number
  readonly load: number
  readonly meanLoad: number
  readonly waitingMs: number
  /** Of the lane with this objective. */
  readonly oldestMs: number
  /** Slots of each worker that serve none of these captures. */
  readonly reservedSlots: number
  /** Slots of other pools that serve these captures. */
  readonly others: Slots
}

type LaneWork = Pick<Tier, 'objectiveMs' | 'serviceMs' | 'load' | 'meanLoad' | 'waitingMs' | 'oldestMs'>

/**
 * Captures of each lane that wait, `waiting` in all. What no count has by lane is of the first; captures that are counted as waiting
 * although they are on the way to a free slot are taken off all lanes alike.
 */
const waitingByLane = ({ backlog, depth, waiting }: Captures): Readonly<Record<Lane, number>> => {
  const stored = depth === 'unknown' ? undefined : depth.waitingByLane
  const counted = byLane((lane) => Math.max(backlog.lanes[lane].pending, stored?.[lane] ?? 0))
  const sum = lanes.reduce((total, lane) => total + counted[lane], 0)
  const share = sum > waiting ? waiting / sum : 1
  const uncounted = Math.max(0, waiting - sum)
  return byLane((lane) => counted[lane] * share + (lane === lanes[0] ? uncounted : 0))
}

const workOf = (captures: Captures, { objectivesMs, holdMs }: PoolPolicy): readonly LaneWork[] => {
  const waits = waitingByLane(captures)
  return lanes.map((lane) => {
    const objectiveMs = objectivesMs[lane]
    const serviceMs = serviceMsOf(lane, captures)
    const { oldestMs, processing } = captures.backlog.lanes[lane]
    const state = { serviceMs, objectiveMs, holdMs, waiting: waits[lane], running: processing }
    const { certain, mean } = captures.load ? expectedLoad(captures.load, lane, state) : { certain: 0, mean: 0 }
    return { objectiveMs, serviceMs, load: certain, meanLoad: mean, waitingMs: waits[lane] * serviceMs, oldestMs }
  })
}

/** Captures of `work` together with those of more urgent lanes, which workers serve first. */
const together = (urgent: Tier, work: LaneWork): Tier => {
  const meanLoad = urgent.meanLoad + work.meanLoad
  const perMs = urgent.meanLoad / urgent.serviceMs + work.meanLoad / work.serviceMs
  return {
    ...work,
    serviceMs: perMs > 0 ? meanLoad / perMs : work.serviceMs,
    load: urgent.load + work.load,
    meanLoad,
    waitingMs: urgent.waitingMs + work.waitingMs,
    reservedSlots: 0,
    others: urgent.others,
  }
}

/** One tier for each lane with all that are more urgent, most urgent first, and one for `bulk` alone, which reserved slots do not serve. */
export const tiersOf = (captures: Captures, policy: PoolPolicy): readonly [Tier, Tier, Tier, Tier] => {
  const [interactive, normal, bulk] = workOf(captures, policy) as [LaneWork, LaneWork, LaneWork]
  const { forBatches, ...others } = captures.otherPools
  const first = { ...interactive, reservedSlots: 0, others }
  const second = together(first, normal)
  const batches = { ...bulk, reservedSlots: policy.reservedSlots, others: forBatches }
  return [first, second, together(second, bulk), batches]
}
