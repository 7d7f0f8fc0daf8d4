import type { Actuator, ListedWorker } from '#controller/act/actuator.ts'
import { type HeartbeatMessage, heartbeatMs } from '#shared/queue/messages.ts'
import { medianByLane } from '#controller/decide/median-by-lane.ts'
import { boundedRead } from './bounded-read.ts'
import type { ReceivedHeartbeat, PoolSubscription } from './subscribe-to-pool.ts'
import {
  type Depth,
  noOtherPools,
  type Observation,
  type ObservedWorker,
  type PoolPolicy,
  type Slots,
} from '#controller/decide/pool.ts'

/** Workers of other pools without a heartbeat for longer do not count. */
const staleHeartbeatMs = 2.5 * heartbeatMs

/** Sources of an observation. */
export type ObserverDeps = {
  readonly subscription: Pick<PoolSubscription, 'backlog' | 'heartbeats' | 'listeningMs'>
  readonly readDepth: () => Promise<Depth>
  readonly actuator: Pick<Actuator, 'list'>
  readonly now: () => number
  /** Whether a worker of this name exists. Without it, every sender of heartbeats counts. */
  readonly isWorker?: (pod: string) => boolean
  /** Other pools' workers on the queue only matter to a pool that is sized by it; `slots` counts until the first heartbeat. */
  readonly policy: () => Pick<PoolPolicy, 'size' | 'slots'>
}

/** The observation of workers if their list cannot be read. */
const unlisted = { workers: 'unknown', otherPools: noOtherPools, refused: undefined, startMs: undefined } as const

const meanServiceMs = (heartbeats: readonly HeartbeatMessage[]): number | undefined => {
  const measured = heartbeats.flatMap(({ serviceMs }) => (serviceMs === undefined ? [] : [serviceMs]))
  return measured.length === 0 ? undefined : measured.reduce((sum, each) => sum + each, 0) / measured.length
}

/**
 * A ready worker counts with all its slots, a draining one with its busy slots, any other with none. Which of its slots are busy is unknown:
 * those that are not reserved are assumed, so that no batch waits for slots that do not serve it; a worker more than needed may start.
 */
const slotsOf = ({ state, slots, busy, reservedSlots = 0 }: HeartbeatMessage): Observation['otherPools'] => {
  if (state !== 'ready' && state !== 'draining') return noOtherPools
  const taking = state === 'ready' ? slots : busy
  const forBatches = Math.min(taking, Math.max(0, slots - reservedSlots))
  return { slots: taking, busy, forBatches: { slots: forBatches, busy: Math.min(busy, forBatches) } }
}

const add = (one: Slots, other: Slots): Slots => ({ slots: one.slots + other.slots, busy: one.busy + other.busy })

/** The runtime's report takes precedence over the worker's heartbeat. */
const stateOf = (
  { stopping, trouble, isUnscheduled }: ListedWorker,
  heartbeat: HeartbeatMessage | undefined,
): Pick<ObservedWorker, 'state' | 'busy' | 'trouble'> => {
  if (stopping) return { state: 'stopping', busy: heartbeat?.busy ?? 0 }
  if (trouble) return { state: 'stuck', trouble, busy: 0 }
  if (isUnscheduled) return { state: 'unscheduled', busy: 0 }
  return { state: heartbeat?.state ?? 'starting', busy: heartbeat?.busy ?? 0 }
}

/** Creates the observer of a pool. It stamps the time, never throws and returns within a second. */
export const createObserver = (deps: ObserverDeps) => {
  const { subscription, now } = deps
  const readDepth = boundedRead(deps.readDepth)
  const list = boundedRead(deps.actuator.list)
  /** The last heartbeats of this pool's workers: listed ones, and former ones until the subscription forgets them. */
  const own = new Map<string, ReceivedHeartbeat>()
  let starts: Observation['starts'] = { ready: 0, failed: 0 }
  let serviceMs: number | undefined
  let laneServiceMs: Observation['laneServiceMs'] = {}

  const follow = (listed: ReadonlySet<string>) => {
    for (const pod of listed) {
      const received = subscription.heartbeats.get(pod)
      if (received) own.set(pod, received)
    }
    for (const pod of own.keys()) if (!listed.has(pod) && !subscription.heartbeats.has(pod)) own.delete(pod)
  }

  const observeWorker = (placed: ListedWorker, nowMs: number): ObservedWorker => {
    const { pod, ageMs, isNodeLost } = placed
    const last = own.get(pod)
    const silentMs = subscription.listeningMs(last?.atMs ?? nowMs - ageMs)
    const slots = last?.heartbeat.slots ?? deps.policy().slots
    return { pod, ageMs, silentMs, slots, ...(isNodeLost && { isNodeLost }), ...stateOf(placed, last?.heartbeat) }
  }

  const observeOtherPools = (nowMs: number): Observation['otherPools'] => {
    if (deps.policy().size !== 'by-queue') return noOtherPools
    let sum = noOtherPools
    for (const [pod, { heartbeat, atMs }] of subscription.heartbeats) {
      if (own.has(pod) || nowMs - atMs > staleHeartbeatMs || !(deps.isWorker?.(pod) ?? true)) continue
      const counts = slotsOf(heartbeat)
      sum = { ...add(sum, counts), forBatches: add(sum.forBatches, counts.forBatches) }
    }
    return sum
  }

  return async (): Promise<Observation> => {
    const [workerList, depth] = await Promise.all([list(), readDepth()])
    const nowMs = now()
    const common = { nowMs, backlog: subscription.backlog(), depth }
    if (workerList === 'unknown') return { ...common, ...unlisted, starts, serviceMs, laneServiceMs }
    const listed = new Set(workerList.workers.map(({ pod }) => pod))
    follow(listed)
    starts = workerList.starts
    const heartbeats = [...own].flatMap(([pod, { heartbeat }]) => (listed.has(pod) ? [heartbeat] : []))
    // The last measurements stay while no worker has any.
    serviceMs = meanServiceMs(heartbeats) ?? serviceMs
    laneServiceMs = {
      ...laneServiceMs,
      ...medianByLane(heartbeats.flatMap((heartbeat) => heartbeat.laneServiceMs ?? [])),
    }
    return {
      ...common,
      workers: workerList.workers.map((placed) => observeWorker(placed, nowMs)),
      otherPools: observeOtherPools(nowMs),
      refused: workerList.refused,
      starts,
      startMs: workerList.startMs,
      serviceMs,
      laneServiceMs,
    }
  }
}
