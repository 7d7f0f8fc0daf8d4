import type { ControllerEvents } from '#controller/events.ts'
import type { LoopTiming } from '#controller/loop.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import { createKubeApi, type KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#shared/kube/clock.ts'
import type { KubeConnection } from '#shared/kube/connection.ts'
import { objectName } from '#shared/kube/names.ts'
import { Recorder } from '#shared/kube/recorder.ts'
import type { Term } from '#shared/kube/term.ts'
import { poolStateCodec } from '#shared/queue/messages.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'
import type { Queue } from '#shared/queue/connection.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import { asideOf, statusAside } from './pools/skip-reason.ts'
import type { Ears } from './watch/pool-subscriptions.ts'
import type { OperatorEvents } from './events.ts'
import { ownersOf } from './pools/queue-owners.ts'
import { policyOf } from './scale/pool-policy.ts'
import { PoolLoops } from './pools/pool-loops.ts'
import type { RunPool } from './pools/pool-runner.ts'
import { presentPods } from './pods/list-workers.ts'
import { createShaper, wishOf } from './apply/children.ts'
import { createShaping, type Shaping } from './apply/child-queue.ts'
import type { StartTimes } from './pods/pod-starts.ts'
import type { PoolOccurrence } from './status/status-change.ts'
import { StatusWriter } from './status/status-writer.ts'
import { misunderstandingOf } from './pools/unsupported-spec.ts'
import { createUnservedQueues } from './pools/unserved-queues.ts'
import type { Watch } from './watch/informers.ts'
import type { PodSettings } from './manifests/worker-pod.ts'

/** What a leader works with. */
export type LeadDeps = {
  readonly connection: Pick<KubeConnection, 'send'>
  readonly clock: Clock
  readonly watch: Watch
  readonly startTimes: StartTimes
  readonly ears: Ears
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

/** Acts during one term. Dispose stops it and waits for everything that is on its way. */
export type Lead = AsyncDisposable & {
  /** Pools that are kept. */
  readonly pools: () => number
  /** Milliseconds since the loop that has stood for longest last turned. */
  readonly standingMs: () => number
}

/** Everything is looked at again after this long, whatever was told. */
const lookMs = 1000

type Occurred = (pool: BrowserPool, occurrence: PoolOccurrence) => void

/** Begins to act. What is written, is written only while the term lasts. */
export const lead = (deps: LeadDeps, term: Term): Lead => {
  const { clock, watch, ears, events } = deps
  const { instance } = deps.settings
  const opened = new AsyncDisposableStack()
  const api = createKubeApi(deps.connection, term.fence)
  const recorder = opened.use(new Recorder({ api, clock, log: deps.logger }, deps.identity))
  const occurred: Occurred = (pool, occurrence) => {
    events.occurred(pool.metadata.name, occurrence)
    recorder.record({ regarding: { resource: browserPools, object: pool }, ...occurrence })
  }
  const statuses = opened.use(
    new StatusWriter({ api, clock, occurred, said: events.said, failed: events.statusFailed }),
  )
  const owners = () => ownersOf(understood(watch.pools()))

  const loops: PoolLoops = opened.use(
    new PoolLoops({
      term: { ...deps, api, statuses, occurred, events: deps.poolEvents, queue: fenced(deps.queue, term) },
      runners: deps.runners,
      shape: (name) => shaping.add(name),
      problemOf: (pool) => shaping.problemOf(pool),
    }),
  )
  const shaper = shaperOf(deps, { api, occurred, loops: () => loops })
  const shaping: Shaping = opened.use(
    createShaping({
      clock,
      shape: shaper.shape,
      wanted: (name) => {
        const pool = watch.pool(name)
        return pool && isShaped(pool) && !asideOf(pool, owners()) ? pool : undefined
      },
      wish: (name) => wishOf(watch, name),
      tried: (name) => loops.ring(objectName(name)),
      failed: events.shapeFailed,
    }),
  )

  const lookAtQueues = queuesOf(deps, fenced(deps.queue, term))

  /** Has every pool kept that can be, and says why of those that cannot. */
  const look = () => {
    const pools = watch.pools().filter(isWanted)
    const now = owners()
    const asides = pools.map((pool) => ({ pool, aside: asideOf(pool, now) }))
    loops.keep(asides.flatMap(({ pool, aside }) => (aside ? [] : [pool])))
    const uids = new Set(pools.map(({ metadata }) => metadata.uid))
    statuses.keep(uids)
    shaper.keep(uids)
    deps.startTimes.keep(new Set(pools.map(({ metadata }) => objectName(metadata.name))))
    for (const { pool, aside } of asides) {
      if (aside) statuses.say(pool, statusAside({ pool: statuses.withSaid(pool), instance, at: clock.date() }, aside))
    }
    if (watch.hasSynced()) lookAtQueues(loops.kept())
  }
  opened.use(
    watch.follow((label, what) => {
      if (what === 'pool') look()
      if (what !== 'pod') for (const { metadata } of watch.poolsOf(label)) shaping.add(metadata.name)
      loops.ring(label)
    }),
  )
  opened.use(ears.follow((kind) => loops.ringKind(kind)))
  opened.use(repeat(clock, look))
  return {
    pools: () => loops.size,
    standingMs: () => loops.standingMs(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const queuesOf = ({ clock, ears, events }: LeadDeps, queue: Queue) =>
  createUnservedQueues({
    clock,
    of: ears.of,
    publish: (state) => queue.publish(poolStateSubject(state.pool), poolStateCodec.encode(state)),
    looked: events.queueLooked,
  })

const isWanted = ({ metadata }: BrowserPool): boolean => metadata.deletionTimestamp === undefined

const understood = (pools: readonly BrowserPool[]) => pools.filter((pool) => misunderstandingOf(pool) === undefined)

/** A paused pool is left as it is, its template included: a change of that would replace workers. */
const isShaped = (pool: BrowserPool): boolean => isWanted(pool) && !pool.spec.paused && pool.spec.pool !== 'proxied'

const shaperOf = (
  { clock, watch, settings }: LeadDeps,
  { api, occurred, loops }: { api: KubeApi; occurred: Occurred; loops: () => PoolLoops },
) =>
  createShaper({
    api,
    clock,
    watch,
    settings,
    firstReplicas: (pool) => {
      const { size, min } = policyOf(pool.spec)
      // Pods that an older Deployment has left become this one's, and those beyond its size would be taken away at once.
      const present = presentPods(watch.podsOf(objectName(pool.metadata.name))).length
      return Math.max(size === 'by-queue' ? min : size, loops().askedOf(pool.metadata.uid), present)
    },
    created: (pool, replicas) => {
      loops().made(pool.metadata.uid)
      const note = `A Deployment of ${replicas === 1 ? '1 worker' : `${replicas} workers`} was made.`
      occurred(pool, { type: 'Normal', reason: 'Created', action: 'Create', note })
    },
  })

/** Says something only while the term lasts, and never later: what is said while NATS is away would wait for its return. */
const fenced = (queue: Queue, term: Term): Queue => ({
  ...queue,
  publish: (...message) => {
    if (term.isValid() && queue.isConnected()) queue.publish(...message)
  },
})

/** Calls now and every second, until disposed. */
const repeat = (clock: Clock, call: () => void): Disposable => {
  let timer: Disposable | undefined
  const turn = () => {
    timer = clock.after(lookMs, turn)
    call()
  }
  turn()
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() }
}
