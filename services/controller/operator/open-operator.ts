import { randomUUID } from 'node:crypto'
import { createEvents } from '#controller/events.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { createKubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#shared/kube/clock.ts'
import type { KubeConnection } from '#shared/kube/connection.ts'
import { LeaderElector } from '#shared/kube/leader-election.ts'
import { leaseName } from '#shared/kube/names.ts'
import type { Term } from '#shared/kube/term.ts'
import type { Queue } from '#shared/queue/connection.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { Health } from '#shared/telemetry/probe-server.ts'
import type { OperatorConfig } from './config.ts'
import { countRequests } from './watch/count-requests.ts'
import { openEars } from './watch/pool-subscriptions.ts'
import { createOperatorEvents } from './events.ts'
import { lead, type Lead } from './lead.ts'
import type { RunPool } from './pools/pool-runner.ts'
import { runProxiedPool } from './jobs/run-proxied-pool.ts'
import { runPool } from './scale/run-pool.ts'
import { createStartTimes } from './pods/pod-starts.ts'
import { openWatch } from './watch/informers.ts'
import type { PodSettings } from './manifests/worker-pod.ts'

/** What an operator works with. */
export type OperatorDeps = {
  readonly config: PodSettings &
    Pick<OperatorConfig, 'poolsNamespace' | 'jobsNamespace' | 'controllerPod' | 'leaseSeconds' | 'poolTickMs'>
  readonly connection: Pick<KubeConnection, 'send' | 'namespace'>
  readonly queue: Queue
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Watches and hears all the time, and acts while it leads. Dispose ends what it does and lets the Lease go. */
export type Operator = AsyncDisposable & { readonly health: () => Health }

/** Longest time of one step of a loop. */
const limitMs = 5000
/** A loop that has not turned for this long is stuck. */
const stuckAfterMs = 30_000
/** Time between two tries to get a Lease: who comes next acts within 5 s. */
const retryMsMax = 2000

const runners: Readonly<Record<Pool, RunPool>> = { standard: runPool, stealth: runPool, proxied: runProxiedPool }

const timingOf = (leaseSeconds: number) => {
  const leaseMs = leaseSeconds * 1000
  return { leaseMs, renewDeadlineMs: (leaseMs * 2) / 3, retryMs: Math.min(retryMsMax, leaseMs / 7.5) }
}

/** Begins to watch, to hear, and to compete. */
export const openOperator = (given: OperatorDeps): Operator => {
  const { config, queue, clock, random, logger, metrics } = given
  const opened = new AsyncDisposableStack()
  const events = createOperatorEvents(logger, metrics)
  const deps = { ...given, connection: countRequests(given, events.requested) }
  const poolEvents = createEvents(logger, metrics)
  const pools = config.poolsNamespace || given.connection.namespace
  const api = createKubeApi(deps.connection)
  const startTimes = createStartTimes(clock, { nodeProvisionMs: config.nodeProvisionSeconds * 1000 })
  const ears = opened.use(openEars({ queue, clock, malformed: poolEvents.malformed }))
  const watch = opened.use(
    openWatch(
      { api, clock, random, eventsOf: events.reflectionOf, podChanged: startTimes.follow },
      { instance: config.instance, pools, jobs: config.jobsNamespace || pools },
    ),
  )
  // Another one for each process that ever runs, whatever its pod is called.
  const identity = [config.controllerPod || 'controller', randomUUID().slice(0, 8)].join('-')
  const timing = { tickMs: config.poolTickMs, limitMs }
  const leadDeps = { ...deps, watch, startTimes, ears, events, poolEvents, runners, settings: config, timing, identity }

  const leading = opened.use(createLeading((term) => lead(leadDeps, term)))
  const elector = new LeaderElector(
    {
      api,
      clock,
      random,
      began: (term) => {
        events.termBegan()
        leading.begin(term)
      },
      ended: () => {
        events.termEnded()
        leading.end()
      },
      failed: events.electionFailed,
    },
    { namespace: pools, name: leaseName, identity, timing: timingOf(config.leaseSeconds) },
  )
  return {
    health: () => {
      const now = leading.now()
      const synced = watch.hasSynced()
      const detail = {
        role: elector.isLeader() ? 'leader' : 'standby',
        pools: String(now?.pools() ?? watch.pools().length),
        api: synced ? 'read' : 'not read yet',
        nats: queue.isConnected() ? 'connected' : 'away',
      }
      return { live: (now?.standingMs() ?? 0) < stuckAfterMs, ready: synced && queue.isConnected(), detail }
    },
    [Symbol.asyncDispose]: async () => {
      // Nothing may be on its way when the Lease is let go.
      await leading[Symbol.asyncDispose]()
      await elector[Symbol.asyncDispose]()
      await opened.disposeAsync()
    },
  }
}

const dispose = async (of: Lead): Promise<void> => of[Symbol.asyncDispose]()

/** What is done during terms, of which one follows another. */
const createLeading = (begin: (term: Term) => Lead) => {
  let current: Lead | undefined
  let wanted: Term | undefined
  let isOver = false
  const ending = new Set<Promise<void>>()

  const end = () => {
    wanted = undefined
    if (!current) return
    const ended = dispose(current)
    current = undefined
    ending.add(ended)
    void ended.finally(() => ending.delete(ended))
  }
  const follow = async (term: Term) => {
    // What is on its way from an earlier term is not seen before it is done.
    await Promise.allSettled(ending)
    if (!isOver && wanted === term && term.isValid()) current = begin(term)
  }
  return {
    begin: (term: Term) => {
      end()
      wanted = term
      void follow(term)
    },
    end,
    now: () => current,
    [Symbol.asyncDispose]: async () => {
      isOver = true
      end()
      await Promise.all(ending)
    },
  }
}
