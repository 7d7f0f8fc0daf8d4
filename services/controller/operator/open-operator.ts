import { randomUUID } from 'node:crypto'
import { createEvents } from '#controller/telemetry/events.ts'
import { createDecisionReports } from '#controller/telemetry/report-decisions.ts'
import { createKubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import type { KubeConnection } from '#shared/kube/connection.ts'
import { electionTiming, LeaderElector } from '#controller/kube/leader-election.ts'
import { leaseName } from '#shared/kube/names.ts'
import { createTermRunner } from '#controller/kube/term-runner.ts'
import type { Queue } from '#shared/queue/connection.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { Health } from '#shared/telemetry/probe-server.ts'
import type { OperatorConfig } from './config.ts'
import { countRequests } from './watch/count-requests.ts'
import { openPoolSubscriptions } from '#controller/reconcile/pool-subscriptions.ts'
import { createOperatorEvents } from './telemetry/events.ts'
import { lead } from './lead.ts'
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

/**
 * Opens informers and NATS subscriptions, which also run on standby, and competes for the Lease; reconciles while it leads.
 * Dispose closes them and releases the Lease.
 */
export const openOperator = (operatorDeps: OperatorDeps) => {
  const { config, queue, clock, random, logger, metrics } = operatorDeps
  const opened = new AsyncDisposableStack()
  const events = createOperatorEvents(logger, metrics)
  const deps = { ...operatorDeps, connection: countRequests(operatorDeps, events.requested) }
  const poolEvents = createEvents(
    logger,
    metrics,
    createDecisionReports(() => queue, clock.nowMs),
  )
  const pools = config.poolsNamespace || operatorDeps.connection.namespace
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
  const terms = opened.use(
    createTermRunner((term) =>
      lead(
        { ...deps, informers, podStarts, subscriptions, events, poolEvents, settings: config, timing, identity },
        term,
      ),
    ),
  )
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
        pools: String((current ?? informers).pools().length),
        api: synced ? 'synced' : 'not synced',
        nats: queue.isConnected() ? 'connected' : 'unreachable',
      }
      return { live: current?.isStalled() !== true, ready: synced && queue.isConnected(), detail }
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      // No request may be in flight when the Lease is released.
      await terms[Symbol.asyncDispose]()
      await elector[Symbol.asyncDispose]()
      await opened.disposeAsync()
    },
  }
}
