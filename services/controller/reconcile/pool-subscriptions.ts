import { createJobReports } from '#controller/proxied/job-reports.ts'
import {
  type PoolSubscription,
  type PoolSubscriptionDeps,
  subscribeToPool,
} from '#controller/loop/subscribe-to-pool.ts'
import { type Pool, pools } from '#shared/capture/lane.ts'
import { type Clock, pause } from '#controller/kube/clock.ts'
import { createListeners } from '#controller/kube/listeners.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { heartbeatMs, type StartedMessage } from '#shared/queue/messages.ts'
import { poolWakeupSubject } from '#shared/queue/subjects.ts'

/** Longest wait for the first reports, in milliseconds from subscribing. */
const syncMsMax = 5000
/** Milliseconds within which every worker sends at least one heartbeat, if nothing is slow. */
const heartbeatMsMax = 1.25 * heartbeatMs
const pollMs = 100
/** Times after a wakeup of `proxied` at which it is woken again, because a gateway wakes it once for all captures of 100 ms. */
const wakeAgainMs = [50, 110]

/** Subscriptions to the reports about all kinds of pools; on Kubernetes, every replica holds them. */
export type PoolSubscriptions = ReturnType<typeof openPoolSubscriptions>

/** Subscribes to the reports about all kinds of pools. */
export const openPoolSubscriptions = (deps: {
  readonly queue: Pick<Queue, 'subscribe'>
  readonly clock: Clock
  readonly malformed: (subject: string) => void
}) => {
  const { queue, clock, malformed } = deps
  const now = clock.nowMs
  const sinceMs = now()
  const reports = createJobReports(now)
  const listeners = createListeners<[kind: Pool]>()
  const opened = new DisposableStack()

  const subscribe = (kind: Pool): PoolSubscription => {
    const wake = () => listeners.notify(kind)
    const captureArrived = () => {
      wake()
      if (kind === 'proxied') for (const afterMs of wakeAgainMs) setTimeout(wake, afterMs).unref()
    }
    opened.use(queue.subscribe(poolWakeupSubject(kind), captureArrived))
    const changed: PoolSubscriptionDeps['changed'] = (heartbeat, before) => {
      if (kind === 'proxied') reports.heartbeat(heartbeat)
      else if (heartbeat.state === before?.state) return
      wake()
    }
    const started = (message: StartedMessage) => {
      reports.started(message)
      wake()
    }
    const callbacks = { changed, ...(kind === 'proxied' && { started }) }
    return opened.use(subscribeToPool({ queue, now, malformed, ...callbacks }, kind))
  }
  const subscriptions = new Map(pools.map((kind) => [kind, subscribe(kind)]))
  const forPool = (kind: Pool): PoolSubscription => {
    const subscription = subscriptions.get(kind)
    if (!subscription) throw new TypeError(`no subscription to pool ${kind}`)
    return subscription
  }
  return {
    forPool,
    /** Reports of the workers of Jobs. */
    reports,
    /** Calls a listener, until disposed, when a kind of pool should be reconciled. */
    onChange: listeners.add,
    /**
     * Resolves once the backlog of a kind was received, each of these pods has sent a heartbeat, and all other workers had the
     * time to; at the latest 5 s after subscribing, or when `signal` aborts.
     */
    waitForSync: async (kind: Pool, pods: () => readonly string[], signal: AbortSignal): Promise<void> => {
      const { backlog, heartbeats } = forPool(kind)
      const isSynced = () =>
        now() - sinceMs >= heartbeatMsMax && backlog() !== 'unknown' && pods().every((pod) => heartbeats.has(pod))
      while (!signal.aborted && !isSynced() && now() - sinceMs < syncMsMax) await pause(clock, pollMs, signal)
    },
    [Symbol.dispose]: () => opened.dispose(),
  }
}
