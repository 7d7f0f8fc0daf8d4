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
import type { Driver, Simulation } from './simulate.ts'

const observed = ({ pods, nowMs, scenario }: Simulation): ObservedWorker[] =>
  pods.map((pod) => ({
    pod: pod.id,
    state: pod.state === 'draining' && pod.serving.size === 0 ? 'drained' : (pod.state as ObservedWorker['state']),
    ageMs: pod.placedMs === Number.POSITIVE_INFINITY ? 0 : nowMs - pod.placedMs,
    silentMs: 0,
    slots: scenario.bounds.slots,
    busy: pod.serving.size,
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

const countOf = (pool: Simulation): Backlog => {
  const counts = byLane((lane) => pool.countsOf(lane))
  const sum = (of: (count: LaneBacklog) => number) => lanes.reduce((total, lane) => total + of(counts[lane]), 0)
  return {
    pending: sum(({ pending }) => pending),
    processing: sum(({ processing }) => processing),
    oldestMs: Math.max(...lanes.map((lane) => counts[lane].oldestMs)),
    atMs: pool.nowMs,
    lanes: counts,
  }
}

/**
 * Follows the controller's own law: every second, and after an arrival, as the gateway tells it at most every 100 ms. It sees busy slots as
 * they are; reports of real workers are up to half a second old.
 */
export const driveByDecide = (policy: PoolPolicy, decide: Decide): Driver => {
  let memory = blankMemory
  let backlog: Backlog | undefined
  let laneServiceMs: ByLane = {}
  return {
    everyMs: 1000,
    wakesFromZero: true,
    wakeGapMs: 100,
    endsDrained: false,
    act: (pool) => {
      const { nowMs, startedPods, startLatency } = pool
      if (!backlog || nowMs >= backlog.atMs + countEveryMs) backlog = countOf(pool)
      laneServiceMs = { ...laneServiceMs, ...medianByLane(pool.pods.map((pod) => pod.laneServiceMs)) }
      const waitingByLane = byLane((lane) => pool.countsOf(lane).pending)
      const decided = decide(
        {
          nowMs,
          backlog,
          depth: {
            waiting: pool.waiting,
            inFlight: pool.running,
            waitingByLane,
          },
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
