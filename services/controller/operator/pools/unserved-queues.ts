import type { ReceivedHeartbeat, PoolSubscription } from '#controller/loop/subscribe-to-pool.ts'
import { type Pool as QueueName, pools as queues } from '#shared/capture/lane.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { boundedRead } from '#controller/loop/bounded-read.ts'
import type { Clock } from '#controller/kube/clock.ts'
import type { Depth } from '#controller/decide/pool.ts'
import type { PoolStateMessage } from '#shared/queue/messages.ts'
import type { UnservedReason } from '#controller/operator/telemetry/events.ts'

/** Milliseconds without a heartbeat after which a worker does not count as serving. */
const silentMs = 10_000

/**
 * Why a queue is not served; undefined if a worker serves it or can be started. Any worker that takes captures counts,
 * whatever runs it, including workers of a paused pool.
 */
export const unservedReason = (
  queue: QueueName,
  pools: readonly BrowserPool[],
  hasWorker: boolean,
): UnservedReason | undefined => {
  if (hasWorker) return undefined
  const serving = pools.filter(({ spec }) => spec.pool === queue)
  if (serving.length === 0) return 'no-pool'
  const active = serving.filter(({ spec }) => !spec.paused)
  if (active.length === 0) return 'paused'
  const canScale = ({ spec }: BrowserPool) => spec.pool === 'proxied' || spec.autoscaling.enabled || spec.replicas > 0
  return active.some(canScale) ? undefined : 'no-replicas'
}

/** Dependencies of the check. */
export type UnservedQueuesDeps = {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly forQueue: (queue: QueueName) => Pick<PoolSubscription, 'heartbeats' | 'backlog'>
  readonly readDepth: (queue: QueueName) => Promise<Depth>
  /** Publishes to the ledger, which fails captures that have waited for too long. */
  readonly publish: (state: PoolStateMessage) => void
  /** Called at each check with the reason, and with the number of waiting captures if it is known. */
  readonly checked: (queue: QueueName, reason: UnservedReason | undefined, waiting: number | undefined) => void
}

/**
 * Creates the check, which publishes the state of each queue that the given pools do not serve. The time in which an operator has
 * paused the queue does not count, and nothing is published while that is unknown.
 */
export const createUnservedQueues = (deps: UnservedQueuesDeps): ((pools: readonly BrowserPool[]) => Promise<void>) => {
  const since = new Map<QueueName, number>()
  const nowMs = () => deps.clock.nowMs()
  const takesCaptures = ({ heartbeat, atMs }: ReceivedHeartbeat) =>
    heartbeat.state === 'ready' && nowMs() - atMs < silentMs

  const publish = (queue: QueueName, reason: UnservedReason, depth: Depth | 'unknown') => {
    const sinceMs = since.get(queue)
    // It is served meanwhile.
    if (sinceMs === undefined || depth === 'unknown') return
    if (depth.isPaused) since.delete(queue)
    else deps.publish({ pool: queue, canStart: false, forMs: Math.round(nowMs() - sinceMs), reason })
  }
  const checks = queues.map((queue) => {
    const readDepth = boundedRead(() => deps.readDepth(queue))
    return async (pools: readonly BrowserPool[]) => {
      const { heartbeats, backlog } = deps.forQueue(queue)
      const reason = unservedReason(queue, pools, [...heartbeats.values()].some(takesCaptures))
      const counted = backlog()
      deps.checked(queue, reason, counted === 'unknown' ? undefined : counted.pending)
      if (!reason) {
        since.delete(queue)
        return
      }
      since.set(queue, since.get(queue) ?? nowMs())
      publish(queue, reason, await readDepth())
    }
  })
  return async (pools) => {
    await Promise.all(checks.map((check) => check(pools)))
  }
}
