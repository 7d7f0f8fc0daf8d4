import type { Actuator, ListedWorker } from '#controller/act/actuator.ts'
import { type HeartbeatMessage, heartbeatMs } from '#shared/queue/messages.ts'
import { boundedRead } from './bounded-read.ts'
import type { ReceivedHeartbeat, PoolSubscription } from './subscribe-to-pool.ts'
import type { Depth, Observation, ObservedWorker } from './pool.ts'

/** Workers of others without a heartbeat for longer do not count. */
const elsewhereMs = 2.5 * heartbeatMs

type ObserverDeps = {
  readonly subscription: Pick<PoolSubscription, 'backlog' | 'heartbeats' | 'listeningMs'>
  readonly readDepth: () => Promise<Depth>
  readonly actuator: Pick<Actuator, 'list'>
  readonly now: () => number
  /** Whether there is a worker of this name. Without it, every one that sends heartbeats counts. */
  readonly isWorker?: (pod: string) => boolean
  /** Whether the queue decides this pool's size, so that it matters who else serves it. Without it, it does. */
  readonly isByQueue?: () => boolean
}

const nobody = { slots: 0, busy: 0 }
/** What is observed of workers whose list cannot be read. */
const unlisted = { workers: 'unknown', elsewhere: nobody, refused: undefined, startMs: undefined } as const

const meanServiceMs = (heartbeats: readonly HeartbeatMessage[]): number | undefined => {
  const measured = heartbeats.flatMap(({ serviceMs }) => (serviceMs === undefined ? [] : [serviceMs]))
  return measured.length === 0 ? undefined : measured.reduce((sum, each) => sum + each, 0) / measured.length
}

/** Slots that take work, and those that finish what they took; a worker that comes up has none yet. */
const slotsOf = ({ state, slots, busy }: HeartbeatMessage) => {
  if (state === 'ready') return { slots, busy }
  return state === 'draining' ? { slots: busy, busy } : { slots: 0, busy: 0 }
}

/** What the runtime reports of a worker wins over its own heartbeat. */
const stateOf = (
  { stopping, trouble, isUnscheduled }: ListedWorker,
  heartbeat: HeartbeatMessage | undefined,
): Pick<ObservedWorker, 'state' | 'busy' | 'trouble'> => {
  if (stopping) return { state: 'stopping', busy: heartbeat?.busy ?? 0 }
  if (trouble) return { state: 'stuck', trouble, busy: 0 }
  if (isUnscheduled) return { state: 'unscheduled', busy: 0 }
  return { state: heartbeat?.state ?? 'starting', busy: heartbeat?.busy ?? 0 }
}

/**
 * Creates the observer of a pool, which reads what there is and stamps the time, never throws and answers within a second;
 * `assumed` is of a worker without a heartbeat yet.
 */
export const createObserver = (deps: ObserverDeps, assumed: { slots: () => number }) => {
  const { subscription, now } = deps
  const readDepth = boundedRead(deps.readDepth)
  const list = boundedRead(deps.actuator.list)
  /** The last heartbeats of this pool's workers: of those that are listed, and of those that were until lately. */
  const own = new Map<string, ReceivedHeartbeat>()
  let starts: Observation['starts'] = { ready: 0, failed: 0 }
  let serviceMs: number | undefined

  const follow = (listed: ReadonlySet<string>) => {
    for (const pod of listed) {
      const received = subscription.heartbeats.get(pod)
      if (received) own.set(pod, received)
    }
    for (const pod of own.keys()) if (!listed.has(pod) && !subscription.heartbeats.has(pod)) own.delete(pod)
  }

  const see = (placed: ListedWorker, nowMs: number): ObservedWorker => {
    const { pod, ageMs, isNodeLost } = placed
    const last = own.get(pod)
    const silentMs = subscription.listeningMs(last?.atMs ?? nowMs - ageMs)
    const slots = last?.heartbeat.slots ?? assumed.slots()
    return { pod, ageMs, silentMs, slots, ...(isNodeLost && { isNodeLost }), ...stateOf(placed, last?.heartbeat) }
  }

  const seeElsewhere = (nowMs: number): Observation['elsewhere'] => {
    if (deps.isByQueue?.() === false) return nobody
    let slots = 0
    let busy = 0
    for (const [pod, { heartbeat, atMs }] of subscription.heartbeats) {
      if (own.has(pod) || nowMs - atMs > elsewhereMs || !(deps.isWorker?.(pod) ?? true)) continue
      const of = slotsOf(heartbeat)
      slots += of.slots
      busy += of.busy
    }
    return { slots, busy }
  }

  return async (): Promise<Observation> => {
    const [seen, depth] = await Promise.all([list(), readDepth()])
    const nowMs = now()
    const common = { nowMs, backlog: subscription.backlog(), depth }
    if (seen === 'unknown') return { ...common, ...unlisted, starts, serviceMs }
    const listed = new Set(seen.workers.map(({ pod }) => pod))
    follow(listed)
    starts = seen.starts
    serviceMs =
      meanServiceMs([...own].flatMap(([pod, { heartbeat }]) => (listed.has(pod) ? [heartbeat] : []))) ?? serviceMs
    return {
      ...common,
      workers: seen.workers.map((placed) => see(placed, nowMs)),
      elsewhere: seeElsewhere(nowMs),
      refused: seen.refused,
      starts,
      startMs: seen.startMs,
      serviceMs,
    }
  }
}
