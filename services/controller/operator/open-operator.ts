import { randomUUID } from 'node:crypto'
import { createEvents } from '#controller/telemetry/events.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { createKubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import type { KubeConnection } from '#shared/kube/connection.ts'
import { electionTiming, LeaderElector } from '#controller/kube/leader-election.ts'
import { leaseName } from '#shared/kube/names.ts'
import type { Term } from '#controller/kube/term.ts'
import type { Queue } from '#shared/queue/connection.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { Health } from '#shared/telemetry/probe-server.ts'
import type { OperatorConfig } from './config.ts'
import { countRequests } from './watch/count-requests.ts'
import { openPoolSubscriptions } from './watch/pool-subscriptions.ts'
import { createOperatorEvents } from './telemetry/events.ts'
import { lead, type Lead } from './lead.ts'
import type { RunPool } from './pools/pool-runner.ts'
import { runProxiedPool } from './jobs/run-proxied-pool.ts'
import { runPool } from './scale/run-pool.ts'
import { createPodStarts } from './pods/pod-starts.ts'
import { openInformers } from './watch/informers.ts'
import type { PodSettings } from './manifests/worker-pod.ts'

type OperatorDeps = {
  readonly config: PodSettings &
    Pick<OperatorConfig, 'poolsNamespace' | 'jobsNamespace' | 'controllerPod' | 'leaseSeconds' | 'poolTickMs'>
  readonly connection: Pick<KubeConnection, 'send' | 'namespace'>
  readonly queue: Queue
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Longest duration of one step of a loop, in milliseconds. */
const limitMs = 5000
/** Milliseconds without a completed tick after which a loop is stalled. */
const stalledAfterMs = 30_000

const runners: Readonly<Record<Pool, RunPool>> = { standard: runPool, stealth: runPool, proxied: runProxiedPool }

/**
 * Opens informers and NATS subscriptions, which also run on standby, and competes for the Lease; reconciles while it leads.
 * Dispose closes them and releases the Lease.
 */
export const openOperator = (given: OperatorDeps) => {
  const { config, queue, clock, random, logger, metrics } = given
  const opened = new AsyncDisposableStack()
  const events = createOperatorEvents(logger, metrics)
  const deps = { ...given, connection: countRequests(given, events.requested) }
  const poolEvents = createEvents(logger, metrics)
  const pools = config.poolsNamespace || given.connection.namespace
  const api = createKubeApi(deps.connection)
  const podStarts = createPodStarts(clock, { nodeProvisionMs: config.nodeProvisionSeconds * 1000 })
  const subscriptions = opened.use(openPoolSubscriptions({ queue, clock, malformed: poolEvents.malformed }))
  const informers = opened.use(
    openInformers(
      { api, clock, random, eventsOf: events.reflectionOf, podChanged: podStarts.follow },
      { instance: config.instance, pools, jobs: config.jobsNamespace || pools },
    ),
  )
  // Unique to each process: processes may share a pod name.
  const identity = [config.controllerPod || 'controller', randomUUID().slice(0, 8)].join('-')
  const timing = { tickMs: config.poolTickMs, limitMs }
  const leadDeps = {
    ...deps,
    informers,
    podStarts,
    subscriptions,
    events,
    poolEvents,
    runners,
    settings: config,
    timing,
    identity,
  }

  const terms = opened.use(createTermRunner((term) => lead(leadDeps, term)))
  const elector = new LeaderElector(
    {
      api,
      clock,
      random,
      began: (term) => {
        events.termBegan()
        terms.begin(term)
      },
      ended: () => {
        events.termEnded()
        terms.end()
      },
      failed: events.electionFailed,
    },
    { namespace: pools, name: leaseName, identity, timing: electionTiming(config.leaseSeconds) },
  )
  return {
    health: (): Health => {
      const current = terms.current()
      const synced = informers.hasSynced()
      const detail = {
        role: elector.isLeader() ? 'leader' : 'standby',
        pools: String(current?.pools() ?? informers.pools().length),
        api: synced ? 'synced' : 'not synced',
        nats: queue.isConnected() ? 'connected' : 'unreachable',
      }
      return { live: (current?.stalledMs() ?? 0) < stalledAfterMs, ready: synced && queue.isConnected(), detail }
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      // No request may be in flight when the Lease is released.
      await terms[Symbol.asyncDispose]()
      await elector[Symbol.asyncDispose]()
      await opened.disposeAsync()
    },
  }
}

/** Runs the terms of leadership, one after another. */
const createTermRunner = (begin: (term: Term) => Lead) => {
  let current: Lead | undefined
  let next: Term | undefined
  let isDisposed = false
  const ending = new Set<Promise<void>>()

  const end = () => {
    next = undefined
    if (!current) return
    const ended = current[Symbol.asyncDispose]()
    current = undefined
    ending.add(ended)
    void ended.finally(() => ending.delete(ended))
  }
  const start = async (term: Term) => {
    // Requests of earlier terms must end first, because the informers do not show their results yet.
    await Promise.allSettled(ending)
    if (!isDisposed && next === term && term.isValid()) current = begin(term)
  }
  return {
    begin: (term: Term) => {
      end()
      next = term
      void start(term)
    },
    end,
    current: () => current,
    [Symbol.asyncDispose]: async () => {
      isDisposed = true
      end()
      await Promise.all(ending)
    },
  }
}
