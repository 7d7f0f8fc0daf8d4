import type { ControllerEvents } from '#controller/events.ts'
import type { LoopTiming } from '#controller/loop.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import { createKubeApi, type KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import type { KubeConnection } from '#shared/kube/connection.ts'
import { objectName } from '#shared/kube/names.ts'
import { Recorder } from '#controller/kube/recorder.ts'
import type { Term } from '#controller/kube/term.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { poolStateCodec } from '#shared/queue/messages.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import { ChildQueue } from './apply/child-queue.ts'
import { createChildReconciler, desiredState } from './apply/children.ts'
import type { OperatorEvents } from './events.ts'
import type { PodSettings } from './manifests/worker-pod.ts'
import { presentPods } from './pods/list-workers.ts'
import type { PodStarts } from './pods/pod-starts.ts'
import { PoolLoops } from './pools/pool-loops.ts'
import type { RunPool } from './pools/pool-runner.ts'
import { queueOwners } from './pools/queue-owners.ts'
import { skippedStatus, skipReason, unsupportedSpecError } from './pools/skip-reason.ts'
import { createUnservedQueues } from './pools/unserved-queues.ts'
import { policyOf } from './scale/pool-policy.ts'
import type { PoolOccurrence } from './status/status-change.ts'
import { StatusWriter } from './status/status-writer.ts'
import type { Informers } from './watch/informers.ts'
import type { PoolSubscriptions } from './watch/pool-subscriptions.ts'

/** What a leader works with. */
export type LeadDeps = {
  readonly connection: Pick<KubeConnection, 'send'>
  readonly clock: Clock
  readonly informers: Informers
  readonly podStarts: PodStarts
  readonly subscriptions: PoolSubscriptions
  readonly queue: Queue
  readonly logger: Logger
  readonly events: OperatorEvents
  readonly poolEvents: ControllerEvents
  readonly runners: Readonly<Record<Pool, RunPool>>
  readonly settings: PodSettings
  readonly timing: LoopTiming
  /** Name of this process in events. */
  readonly identity: string
}

/** The work of one term. Dispose stops it and waits for all requests in flight. */
export type Lead = AsyncDisposable & {
  /** Pools that are reconciled. */
  readonly pools: () => number
  /** Milliseconds since the pool loop that is stalled for longest last turned. */
  readonly stalledMs: () => number
}

/** Everything is reconciled again after this long, whatever the informers report. */
const resyncMs = 1000

type Occurred = (pool: BrowserPool, occurrence: PoolOccurrence) => void

/** Starts to reconcile. Every write is fenced: it happens only while the term lasts. */
export const lead = (deps: LeadDeps, term: Term): Lead => {
  const { clock, informers, events } = deps
  const opened = new AsyncDisposableStack()
  const api = createKubeApi(deps.connection, term.fence)
  const queue = fencedQueue(deps.queue, term)
  const recorder = opened.use(new Recorder({ api, clock, log: deps.logger }, deps.identity))
  const occurred: Occurred = (pool, occurrence) => {
    events.occurred(pool.metadata.name, occurrence)
    recorder.record({ regarding: { resource: browserPools, object: pool }, ...occurrence })
  }
  const statuses = opened.use(
    new StatusWriter({ api, clock, occurred, reported: events.statusReported, failed: events.statusFailed }),
  )
  const loops: PoolLoops = opened.use(
    new PoolLoops({
      term: { ...deps, api, statuses, occurred, events: deps.poolEvents, queue },
      runners: deps.runners,
      applyChildren: (name) => children.add(name),
      problemOf: (pool) => children.problemOf(pool),
    }),
  )
  const reconciler = childReconcilerOf(deps, { api, occurred, loops })
  const children: ChildQueue = opened.use(
    new ChildQueue({
      clock,
      apply: reconciler.apply,
      wanted: (name) => {
        const pool = informers.pool(name)
        return pool && hasChildren(pool) && !skipReason(pool, ownersOf(informers)) ? pool : undefined
      },
      desiredState: (name) => desiredState(informers, name),
      tried: (name) => loops.wake(objectName(name)),
      failed: events.applyFailed,
    }),
  )
  const reportUnservedQueues = createUnservedQueues({
    clock,
    of: deps.subscriptions.of,
    publish: (state) => queue.publish(poolStateSubject(state.pool), poolStateCodec.encode(state)),
    checked: events.queueChecked,
  })
  const resync = () => {
    const uids = resyncPools(deps, { loops, statuses })
    reconciler.keep(uids)
    if (informers.hasSynced()) reportUnservedQueues(loops.pools())
  }
  opened.use(
    informers.onChange((label, what) => {
      if (what === 'pool') resync()
      if (what !== 'pod') for (const { metadata } of informers.poolsOf(label)) children.add(metadata.name)
      loops.wake(label)
    }),
  )
  opened.use(deps.subscriptions.onChange((kind) => loops.wakeKind(kind)))
  opened.use(repeat(clock, resync))
  return {
    pools: () => loops.size,
    stalledMs: () => loops.stalledMs(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Runs the loop of every pool that can be reconciled, writes the status of those that are skipped; answers the uids of all. */
const resyncPools = (
  { clock, informers, podStarts, settings }: LeadDeps,
  { loops, statuses }: { readonly loops: PoolLoops; readonly statuses: StatusWriter },
): ReadonlySet<string> => {
  const pools = informers.pools().filter(exists)
  const owners = ownersOf(informers)
  const skips = pools.map((pool) => ({ pool, skip: skipReason(pool, owners) }))
  loops.run(skips.flatMap(({ pool, skip }) => (skip ? [] : [pool])))
  const uids = new Set(pools.map(({ metadata }) => metadata.uid))
  statuses.keep(uids)
  podStarts.keep(new Set(pools.map(({ metadata }) => objectName(metadata.name))))
  for (const { pool, skip } of skips) {
    if (!skip) continue
    const of = { pool: statuses.withLatestStatus(pool), instance: settings.instance, at: clock.date() }
    statuses.write(pool, skippedStatus(of, skip))
  }
  return uids
}

const ownersOf = (informers: Informers) =>
  queueOwners(informers.pools().filter((pool) => unsupportedSpecError(pool) === undefined))

const exists = ({ metadata }: BrowserPool): boolean => metadata.deletionTimestamp === undefined

/** Nothing is applied to a paused pool: a change of its template would replace workers. */
const hasChildren = (pool: BrowserPool): boolean => exists(pool) && !pool.spec.paused && pool.spec.pool !== 'proxied'

const childReconcilerOf = (
  { clock, informers, settings }: LeadDeps,
  { api, occurred, loops }: { api: KubeApi; occurred: Occurred; loops: PoolLoops },
) =>
  createChildReconciler({
    api,
    clock,
    informers,
    settings,
    firstReplicas: (pool) => {
      const { size, min } = policyOf(pool.spec)
      // Pods that an older Deployment has left are adopted by this one, which would remove those beyond its size at once.
      const present = presentPods(informers.podsOf(objectName(pool.metadata.name))).length
      return Math.max(size === 'by-queue' ? min : size, loops.requestedReplicas(pool.metadata.uid), present)
    },
    created: (pool, replicas) => {
      loops.deploymentCreated(pool.metadata.uid)
      const note = `Created a Deployment of ${replicas === 1 ? '1 worker' : `${replicas} workers`}.`
      occurred(pool, { type: 'Normal', reason: 'Created', action: 'Create', note })
    },
  })

/** Publishes only while the term lasts and NATS is connected: a message published while NATS is away would arrive late. */
export const fencedQueue = (queue: Queue, term: Pick<Term, 'isValid'>): Queue => ({
  ...queue,
  publish: (...message) => {
    if (term.isValid() && queue.isConnected()) queue.publish(...message)
  },
})

/** Calls now and every second, until disposed. */
const repeat = (clock: Clock, call: () => void): Disposable => {
  let timer: Disposable | undefined
  const turn = () => {
    timer = clock.after(resyncMs, turn)
    call()
  }
  turn()
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() }
}
