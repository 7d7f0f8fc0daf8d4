import { type ByLane, medianByLane } from '#controller/decide/median-by-lane.ts'
import {
  type Backlog,
  blankMemory,
  type Decide,
  type Decision,
  type LaneBacklog,
  noOtherPools,
  type ObservedWorker,
  type PoolPolicy,
} from '#controller/decide/pool.ts'
import { byLane, lanes } from '#shared/capture/lane.ts'
import type { Prediction } from '#shared/policy/predict-arrivals.ts'
import type { Driver, Simulation } from './simulate.ts'

const observed = ({ pods, nowMs, scenario }: Simulation): ObservedWorker[] =>
  pods.map((pod) => ({
    pod: pod.id,
    state: pod.state === 'draining' && pod.serving.size === 0 ? 'drained' : (pod.state as ObservedWorker['state']),
    ageMs: pod.placedMs === Number.POSITIVE_INFINITY ? 0 : nowMs - pod.placedMs,
    silentMs: 0,
    slots: scenario.bounds.slots,
    busy: pod.reported.busy,
  }))

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length

const apply = (pool: Simulation, decision: Decision): void => {
  const named = (names: readonly string[]) => pool.pods.filter(({ id }) => names.includes(id))
  switch (decision.kind) {
    case 'scale-up':
      for (const pod of named(decision.undrain)) pool.undrain(pod)
      return pool.create(decision.to - pool.pods.length)
    case 'drain':
      for (const pod of named(decision.pods)) pool.drain(pod)
      return
    case 'stop':
    case 'replace':
      for (const pod of named(decision.pods)) pool.remove(pod)
      return
    default:
  }
}

/** The ledger counts once a second; decisions between two counts see the last one. */
const countEveryMs = 1000

/** What the ledger predicts at a time of the simulation. */
export type PredictedAt = (nowMs: number) => Prediction

const countOf = (pool: Simulation, predictedAt: PredictedAt | undefined): Omit<Backlog, 'atMs'> => {
  const { intoMinuteMs, lanes: predicted = {} } = predictedAt?.(pool.nowMs) ?? {}
  const counts = byLane((lane) => ({
    ...pool.countsOf(lane),
    ...(predicted[lane] && { predicted: predicted[lane] }),
  }))
  const sum = (of: (count: LaneBacklog) => number) => lanes.reduce((total, lane) => total + of(counts[lane]), 0)
  return {
    pending: sum(({ pending }) => pending),
    processing: sum(({ processing }) => processing),
    oldestMs: Math.max(...lanes.map((lane) => counts[lane].oldestMs)),
    lanes: counts,
    ...(intoMinuteMs !== undefined && { intoMinuteMs }),
  }
}

/** A count is unknown after this time. */
const staleAfterMs = 5000

/** The ledger's counts, of which those are known that have arrived and were not lost. */
const followCounts = (predictedAt: PredictedAt | undefined) => {
  let countedMs = Number.NEGATIVE_INFINITY
  let counts: Backlog[] = []
  return (pool: Simulation): Backlog | 'unknown' => {
    const { nowMs, scenario } = pool
    const { reportDelayMs = 0 } = scenario
    if (nowMs >= countedMs + countEveryMs) {
      countedMs = nowMs
      if (!pool.loses()) counts.push({ ...countOf(pool, predictedAt), atMs: nowMs + reportDelayMs })
    }
    const last = counts.findLastIndex(({ atMs }) => atMs <= nowMs)
    counts = counts.slice(Math.max(0, last))
    const count = counts[0]
    return count && count.atMs <= nowMs && nowMs - count.atMs <= staleAfterMs ? count : 'unknown'
  }
}

/** Follows the controller's own law: every second, and after an arrival, as the gateway tells it at most every 100 ms. */
export const driveByDecide = (policy: PoolPolicy, decide: Decide, predictedAt?: PredictedAt): Driver => {
  let memory = blankMemory
  const backlogOf = followCounts(predictedAt)
  let laneServiceMs: ByLane = {}
  return {
    everyMs: 1000,
    wakesFromZero: true,
    wakeGapMs: 100,
    endsDrained: false,
    act: (pool) => {
      const { nowMs, startedPods, startLatency } = pool
      laneServiceMs = { ...laneServiceMs, ...medianByLane(pool.pods.map((pod) => pod.reported.laneServiceMs)) }
      const waitingByLane = byLane((lane) => pool.countsOf(lane).pending)
      const decided = decide(
        {
          nowMs,
          backlog: backlogOf(pool),
          depth: { waiting: pool.waiting, inFlight: pool.running, waitingByLane },
          workers: observed(pool),
          otherPools: noOtherPools,
          refused: undefined,
          starts: { ready: startedPods, failed: 0 },
          startMs: startLatency.p90(),
          serviceMs: mean(pool.recentServiceMs),
          laneServiceMs,
        },
        policy,
        memory,
      )
      memory = decided.memory
      apply(pool, decided.decision)
    },
  }
}
