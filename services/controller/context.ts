import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { inboxPrefixOf } from '#shared/queue/permissions.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import type { ControllerConfig } from './config.ts'
import { createEvents } from './telemetry/events.ts'
import { createLoopsHealth } from './loop/health.ts'
import type { PoolPolicy } from './decide/pool.ts'
import { type LoopParts, openPoolLoop, type WorkerLoop, type PoolLoopOptions } from './pool-loop.ts'
import { openProxiedLoop } from './proxied-loop.ts'

/** Longest time of one step of a tick. */
const limitMs = 5000
/** Grace period of a worker: the longest attempt that the contract allows, and ten seconds to exit. */
const killAfterMs = attemptBudgetMs({ timeout: 60, delay: 10 }) + 10_000

/** Entry modules of the worker processes; `jobLifeMs` is the longest lifetime of a single-use worker in milliseconds. */
type WorkersOptions = {
  readonly policy: PoolPolicy
  readonly stealthPolicy: PoolPolicy
  readonly workerEntry: string
  readonly jobEntry: string
  readonly jobLifeMs: number
}

/** The probe merges the details of all loops into one object, so each loop uses its own keys. */
const detailOf: PoolLoopOptions['detailOf'] = (detail) => detail
const stealthDetailOf: PoolLoopOptions['detailOf'] = ({ ready, queue }) => ({
  stealthWorkers: ready,
  stealthWaiting: queue,
})

/** Connects and starts everything except the loops. Dispose drains all workers and waits for them, then closes the rest. */
export const openContext = async (
  config: ControllerConfig,
  { policy, stealthPolicy, workerEntry, jobEntry, jobLifeMs }: WorkersOptions,
) => {
  await using opened = new AsyncDisposableStack()
  const metrics = createMetrics('controller')
  const events = createEvents(createLogger({ service: 'controller', level: config.logLevel }), metrics)
  const now = () => performance.now()
  const queue = opened.use(
    await connectQueue({
      url: config.natsUrl,
      name: 'controller',
      inboxPrefix: inboxPrefixOf('controller'),
      notice: events.queue,
    }),
  )
  const health = createLoopsHealth(queue.isConnected, now)
  const probe = opened.use(await startProbeServer(config, { metrics, health: health.health }))
  const timing = { tickMs: config.poolTickMs, limitMs }
  const parts: LoopParts = { queue, events, health, now, timing, killAfterMs }
  const loops: readonly WorkerLoop[] = [
    openPoolLoop(parts, { pool: config.pool, policy, entry: workerEntry, env: config.workerEnv, detailOf }),
    ...(Object.keys(config.stealthWorkerEnv).length > 0
      ? [
          openPoolLoop(parts, {
            pool: 'stealth',
            policy: stealthPolicy,
            entry: workerEntry,
            env: config.stealthWorkerEnv,
            detailOf: stealthDetailOf,
          }),
        ]
      : []),
    openProxiedLoop(parts, {
      entry: jobEntry,
      env: config.proxiedWorkerEnv,
      max: config.proxiedMax,
      spares: config.proxiedSpares,
      lifeMs: jobLifeMs,
    }),
  ]
  // Disposed in parallel: draining takes as long as the slowest worker.
  opened.defer(async () => void (await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()))))
  const rest = opened.move()
  return {
    probeUrl: probe.url,
    /** Runs all loops until `stop` aborts. */
    run: async (stop: AbortSignal): Promise<void> => void (await Promise.all(loops.map((loop) => loop.run(stop)))),
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  }
}
