import type { ControllerEvents } from '#controller/telemetry/events.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import { createKubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import type { KubeConnection } from '#shared/kube/connection.ts'
import { objectName } from '#shared/kube/names.ts'
import { Recorder } from '#controller/kube/recorder.ts'
import type { Term } from '#controller/kube/term.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { poolStateCodec } from '#shared/queue/messages.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import { createRolloutTurns } from './apply/rollout-turns.ts'
import type { OperatorEvents } from './telemetry/events.ts'
import { PoolLoops } from './pools/pool-loops.ts'
import type { RunPool, TermDeps } from './pools/pool-runner.ts'
import { queueOwners } from './pools/queue-owners.ts'
import { skippedStatus, skipReason, unsupportedSpecError } from './pools/skip-reason.ts'
import { createUnservedQueues } from './pools/unserved-queues.ts'
import type { PoolOccurrence } from './status/status-change.ts'
import { StatusWriter } from './status/status-writer.ts'
import type { Informers } from './watch/informers.ts'

type LeadDeps = Pick<
  TermDeps,
  'clock' | 'informers' | 'podStarts' | 'subscriptions' | 'queue' | 'settings' | 'timing'
> & {
  readonly connection: Pick<KubeConnection, 'send'>
  readonly logger: Logger
  readonly events: OperatorEvents
  readonly poolEvents: ControllerEvents
  readonly runners: Readonly<Record<Pool, RunPool>>
  /** Name of this process in events. */
  readonly identity: string
}

/** Reconciliation during one term of leadership. Dispose stops it and waits for all requests in flight. */
export type Lead = ReturnType<typeof lead>

/** Milliseconds between two resyncs of the set of pool loops, in addition to informer events. */
const resyncMs = 1000

type Occurred = (pool: BrowserPool, occurrence: PoolOccurrence) => void

/** Starts to reconcile. Every write is fenced: it is sent only while the term lasts. */
export const lead = (deps: LeadDeps, term: Term) => {
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
  const turns = createRolloutTurns(clock, informers)
  const { applyFailed } = events
  const loops = opened.use(
    new PoolLoops<TermDeps>({
      term: { ...deps, api, statuses, occurred, applyFailed, turns, events: deps.poolEvents, queue },
      runners: deps.runners,
    }),
  )
  const reportUnservedQueues = createUnservedQueues({
    clock,
    of: deps.subscriptions.of,
    publish: (state) => queue.publish(poolStateSubject(state.pool), poolStateCodec.encode(state)),
    checked: events.queueChecked,
  })
  const resync = () => {
    resyncPools(deps, { loops, statuses })
    if (informers.hasSynced()) reportUnservedQueues(loops.pools())
  }
  opened.use(
    informers.onChange((label, what) => {
      if (what === 'pool') resync()
      loops.wake(label)
    }),
  )
  opened.use(deps.subscriptions.onChange((kind) => loops.wakeKind(kind)))
  opened.use(repeat(clock, resync))
  return {
    /** Number of pools that are reconciled. */
    pools: () => loops.size,
    /** Milliseconds since the last tick of the loop that has been stalled longest; 0 without loops. */
    stalledMs: () => loops.stalledMs(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Runs the loops of all pools that can be reconciled, and writes the status of skipped pools. */
const resyncPools = (
  { clock, informers, podStarts, settings }: LeadDeps,
  { loops, statuses }: { readonly loops: PoolLoops<TermDeps>; readonly statuses: StatusWriter },
): void => {
  const pools = informers.pools().filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const owners = ownersOf(informers)
  const skips = pools.map((pool) => ({ pool, skip: skipReason(pool, owners) }))
  loops.run(skips.flatMap(({ pool, skip }) => (skip ? [] : [pool])))
  statuses.keep(new Set(pools.map(({ metadata }) => metadata.uid)))
  podStarts.keep(new Set(pools.map(({ metadata }) => objectName(metadata.name))))
  for (const { pool, skip } of skips) {
    if (!skip) continue
    const of = { pool: statuses.withLatestStatus(pool), instance: settings.instance, at: clock.date() }
    statuses.write(pool, skippedStatus(of, skip))
  }
}

const ownersOf = (informers: Informers) =>
  queueOwners(informers.pools().filter((pool) => unsupportedSpecError(pool) === undefined))

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
