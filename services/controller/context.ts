import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { createCertificateEvents } from '#shared/telemetry/certificate-events.ts'
import { reportClientCertificates } from '#shared/telemetry/client-certificates.ts'
import { createIdentityEvents } from '#shared/telemetry/identity-events.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import type { ControllerConfig } from './config.ts'
import { systemClock } from './kube/clock.ts'
import { createEvents } from './telemetry/events.ts'
import { createDecisionReports } from './telemetry/report-decisions.ts'
import { summarizeHealth, type LoopStatus } from './loop/health.ts'
import { localJobs, type LocalPool, type LocalPoolDeps, localWorkers } from './local-pools.ts'
import { PoolLoops } from './reconcile/pool-loops.ts'
import { openPoolSubscriptions } from './reconcile/pool-subscriptions.ts'

/** Longest time of one step of a tick. */
const limitMs = 5000
/** Grace period of a worker: the longest attempt that the contract allows, and ten seconds to exit. */
const killAfterMs = attemptBudgetMs({ timeout: 60, delay: 10 }) + 10_000

/** Modules that long-lived and single-use worker processes run. */
type Entries = { readonly worker: string; readonly job: string }

/** The pools of one machine. The probe merges their details into one object, so each uses its own keys. */
const localPools = (deps: LocalPoolDeps, config: ControllerConfig, entries: Entries): readonly LocalPool[] => {
  const { workerEnv, stealthWorkerEnv, proxiedWorkerEnv, proxiedMax: max, proxiedSpares: spares } = config
  const worker = { entry: entries.worker, killAfterMs }
  const main = { ...worker, pool: config.pool, policy: config.policy, env: workerEnv }
  const stealth = { ...worker, pool: 'stealth', policy: config.stealthPolicy, env: stealthWorkerEnv } as const
  const job = { entry: entries.job, killAfterMs, env: proxiedWorkerEnv, max, spares, lifeMs: config.jobLifeMs }
  return [
    localWorkers(deps, main, (detail) => detail),
    ...(Object.keys(stealthWorkerEnv).length > 0
      ? [localWorkers(deps, stealth, ({ ready, queue }) => ({ stealthWorkers: ready, stealthWaiting: queue }))]
      : []),
    localJobs(deps, job),
  ]
}

/** Connects, and runs the pools. Dispose drains all workers at once and waits for them, then closes the rest. */
export const openContext = async (config: ControllerConfig, entries: Entries) => {
  await using opened = new AsyncDisposableStack()
  const metrics = createMetrics('controller')
  const report = createDecisionReports(() => queue, systemClock.nowMs)
  const logger = createLogger({ service: 'controller', level: config.logLevel })
  const events = createEvents(logger, metrics, report)
  opened.use(reportClientCertificates(config, createCertificateEvents(logger, metrics)))
  const queue: Queue = opened.use(
    await connectQueue({
      url: config.natsUrl,
      identity: config,
      identityReports: createIdentityEvents(logger, metrics).identityReports('nats'),
      name: 'controller',
      inboxPrefix: userInboxPrefix('controller'),
      notice: events.queue,
    }),
  )
  const subscriptions = opened.use(openPoolSubscriptions({ queue, clock: systemClock, malformed: events.malformed }))
  const pools = localPools({ queue, subscriptions, events, now: systemClock.nowMs }, config, entries)
  const statuses = new Map<LocalPool, LoopStatus>()
  const loops = new PoolLoops<LocalPool, LoopStatus>({
    now: systemClock.nowMs,
    events,
    timing: { tickMs: config.poolTickMs, limitMs },
    keyOf: (pool) => pool,
    identify: ({ queue: name, gapMs }) => ({ name, labels: { queue: name, browserpool: name }, gapMs }),
    reconcile: (loop) => loop.pool().reconcile(loop),
    report: (pool, status) => statuses.set(pool, status),
  })
  const statusesInOrder = () => pools.map((pool) => statuses.get(pool))
  const health = () => summarizeHealth(statusesInOrder(), { live: !loops.isStalled(), connected: queue.isConnected() })
  const probe = opened.use(await startProbeServer(config, { metrics, health }))
  opened.use(subscriptions.onChange((kind) => loops.wake(({ labels }) => labels.queue === kind)))
  opened.use(loops)
  loops.run(pools)
  const rest = opened.move()
  return { probeUrl: probe.url, [Symbol.asyncDispose]: () => rest.disposeAsync() }
}
