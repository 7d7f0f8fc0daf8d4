import type { ControllerEvents } from '#controller/telemetry/events.ts'
import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import { createKubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import type { KubeConnection } from '#shared/kube/connection.ts'
import { objectName } from '#shared/kube/names.ts'
import { Recorder } from '#controller/kube/recorder.ts'
import type { Term } from '#controller/kube/term.ts'
import type { LoopTiming } from '#controller/loop/loop.ts'
import { PoolLoops } from '#controller/reconcile/pool-loops.ts'
import type { PoolSubscriptions } from '#controller/reconcile/pool-subscriptions.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { poolStateCodec } from '#shared/queue/messages.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import { createRolloutTurns } from './apply/rollout-turns.ts'
import { reconcileJobs } from './jobs/reconcile-jobs.ts'
import type { PodSettings } from './manifests/worker-pod.ts'
import type { PodStarts } from './pods/pod-starts.ts'
import { skippedStatus, skipReasonAmong, terminatingStatus } from './pools/skip-reason.ts'
import { createUnservedQueues } from './pools/unserved-queues.ts'
import { reconcileDeployment } from './scale/reconcile-deployment.ts'
import type { ComposeStatus } from './status/conditions.ts'
import type { PoolOccurrence } from './status/status-change.ts'
import { StatusWriter } from './status/status-writer.ts'
import type { OperatorEvents } from './telemetry/events.ts'
import type { Informers } from './watch/informers.ts'

type LeadDeps = {
  readonly connection: Pick<KubeConnection, 'send'>
  readonly queue: Queue
  readonly clock: Clock
  readonly logger: Logger
  readonly events: OperatorEvents
  readonly poolEvents: ControllerEvents
  readonly informers: Informers
  readonly podStarts: PodStarts
  readonly subscriptions: PoolSubscriptions
  readonly settings: PodSettings
  readonly timing: LoopTiming
  /** Name of this process in events. */
  readonly identity: string
}

/** Which reconciler runs a pool, by the queue that it serves. */
const reconcilers = { standard: reconcileDeployment, stealth: reconcileDeployment, proxied: reconcileJobs }

/** Milliseconds between two resyncs of the set of pool loops, in addition to informer events. */
const resyncMs = 1000
/** Minimum milliseconds between two reconciliations of a pool, however often it is woken. */
const gapMs = 50

/**
 * Reconciles during one term of leadership. Every write is fenced: it is sent only while the term lasts. Dispose stops, and waits
 * for all requests in flight.
 */
export const lead = (deps: LeadDeps, term: Term) => {
  const { clock, informers, subscriptions, events, settings } = deps
  const opened = new AsyncDisposableStack()
  const api = createKubeApi(deps.connection, term.fence)
  const queue = fencedQueue(deps.queue, term)
  const recorder = opened.use(new Recorder({ api, clock, log: deps.logger }, deps.identity))
  const occurred = (pool: BrowserPool, occurrence: PoolOccurrence) => {
    events.occurred(pool.metadata.name, occurrence)
    recorder.record({ regarding: { resource: browserPools, object: pool }, ...occurrence })
  }
  const { instance } = settings
  const { statusReported: reported, statusFailed: failed, applyFailed } = events
  const statuses = opened.use(new StatusWriter({ api, clock, instance, occurred, reported, failed }))
  const turns = createRolloutTurns(clock, informers)
  const reconcilerDeps = { ...deps, events: deps.poolEvents, api, queue, occurred, applyFailed, turns }
  const loops = opened.use(
    new PoolLoops<BrowserPool, ComposeStatus>({
      now: clock.nowMs,
      timing: deps.timing,
      events: deps.poolEvents,
      keyOf: ({ metadata }) => metadata.uid,
      identify: ({ metadata: { name }, spec }) => ({
        name: objectName(name),
        labels: { queue: spec.pool, browserpool: name },
        gapMs,
      }),
      reconcile: (loop) => reconcilers[loop.labels.queue](reconcilerDeps, loop),
      report: (pool, composeStatus) => statuses.write(pool, composeStatus),
    }),
  )
  const reportUnservedQueues = createUnservedQueues({
    clock,
    forQueue: subscriptions.forPool,
    readDepth: (pool) => poolDepth(deps.queue, pool),
    publish: (state) => queue.publish(poolStateSubject(state.pool), poolStateCodec.encode(state)),
    checked: events.queueChecked,
  })
  const resync = () => {
    resyncPools(deps, loops, statuses)
    if (informers.hasSynced()) void reportUnservedQueues(loops.pools())
  }
  opened.use(
    informers.onChange((changed, what) => {
      if (what === 'pool') resync()
      loops.wake(({ name }) => name === changed)
    }),
  )
  opened.use(subscriptions.onChange((kind) => loops.wake(({ labels }) => labels.queue === kind)))
  opened.use(repeat(clock, resync))
  return {
    /** The pools that are reconciled. */
    pools: () => loops.pools(),
    isStalled: () => loops.isStalled(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Runs the loops of all pools that can be reconciled, and writes the status of skipped pools. */
const resyncPools = (
  { informers, podStarts }: Pick<LeadDeps, 'informers' | 'podStarts'>,
  loops: Pick<PoolLoops<BrowserPool, ComposeStatus>, 'run'>,
  statuses: StatusWriter,
): void => {
  const all = informers.pools()
  const isTerminating = ({ metadata }: BrowserPool) => metadata.deletionTimestamp !== undefined
  const pools = all.filter((pool) => !isTerminating(pool))
  const skipReason = skipReasonAmong(pools)
  const skips = pools.map((pool) => ({ pool, skip: skipReason(pool) }))
  loops.run(skips.flatMap(({ pool, skip }) => (skip ? [] : [pool])))
  statuses.keep(new Set(all.map(({ metadata }) => metadata.uid)))
  podStarts.keep(new Set(pools.map(({ metadata }) => objectName(metadata.name))))
  for (const pool of all) if (isTerminating(pool)) statuses.write(pool, terminatingStatus)
  for (const { pool, skip } of skips) if (skip) statuses.write(pool, (base) => skippedStatus(base, skip))
}

/** Publishes only while the term lasts and NATS is connected: a message would otherwise arrive late. */
export const fencedQueue = <Q extends Pick<Queue, 'publish' | 'isConnected'>>(
  queue: Q,
  term: Pick<Term, 'isValid'>,
): Q => ({
  ...queue,
  publish: (...message: Parameters<Queue['publish']>) => {
    if (term.isValid() && queue.isConnected()) queue.publish(...message)
  },
})

/** Calls `call` now and every second, until disposed. */
const repeat = (clock: Clock, call: () => void): Disposable => {
  let timer: Disposable | undefined
  const tick = () => {
    timer = clock.after(resyncMs, tick)
    call()
  }
  tick()
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() }
}
