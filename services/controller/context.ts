import { createLocalProcesses } from '#controller/act/local-processes.ts'
import { carryOut } from '#controller/act/carry-out.ts'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { inboxPrefixOf } from '#shared/queue/permissions.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { pokeSubject } from '#shared/queue/subjects.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createBell } from '#shared/process/bell.ts'
import { type Health, startProbeServer } from '#shared/telemetry/probe-server.ts'
import type { ControllerConfig } from './config.ts'
import { createEvents, summarize } from './events.ts'
import type { LoopDeps, Tick } from './loop.ts'
import { createObserver } from './observe.ts'

/** A loop that has not turned for this long is stuck. */
const stuckAfterMs = 30_000
/** Least time between two ticks, however often somebody pokes. */
const gapMs = 50
/** Time that a told worker gets to end: the longest attempt that the contract allows, and ten seconds to leave. */
const killAfterMs = attemptBudgetMs({ timeout: 60, delay: 10 }) + 10_000

/** Everything a running controller holds. Dispose drains all workers and waits for them, then closes the rest. */
export type ControllerContext = AsyncDisposable & { readonly loop: LoopDeps; readonly probeUrl: string }

/** Says whether the loop turns, and shows the newest tick. */
const createHealth = (isConnected: () => boolean, now: () => number) => {
  let turnedMs = now()
  let last: Tick | undefined
  return {
    turned: (tick?: Tick) => {
      turnedMs = now()
      last = tick ?? last
    },
    health: (): Health => {
      const connected = isConnected()
      const live = now() - turnedMs < stuckAfterMs
      const ready = connected && last !== undefined && last.decision.kind !== 'freeze'
      if (!last) return { live, ready, detail: { connected: String(connected) } }
      const { wanted, reason } = last.decision
      const numbers = { ...summarize(last.seen), wanted, reason, connected }
      return {
        live,
        ready,
        detail: Object.fromEntries(Object.entries(numbers).map(([key, value]) => [key, String(value)])),
      }
    },
  }
}

/** Connects and starts everything but the loop. `workerEntry` is the module that a worker's process runs. */
export const openContext = async (config: ControllerConfig, workerEntry: string): Promise<ControllerContext> => {
  await using opened = new AsyncDisposableStack()
  const { pool } = config
  const metrics = createMetrics('controller')
  const events = createEvents(createLogger({ service: 'controller', level: config.logLevel }), metrics)
  const now = () => performance.now()
  const bell = createBell(gapMs)
  const queue = opened.use(
    await connectQueue({
      url: config.natsUrl,
      name: 'controller',
      inboxPrefix: inboxPrefixOf('controller'),
      notice: events.queue,
    }),
  )
  const { turned, health } = createHealth(queue.isConnected, now)
  const probe = opened.use(await startProbeServer({ host: config.probeHost, port: config.probePort, metrics, health }))
  const actuator = opened.use(
    createLocalProcesses({
      entry: workerEntry,
      env: config.workerEnv,
      killAfterMs,
      notice: (notice) => {
        events.worker(notice)
        if (notice.kind !== 'started') bell.ring()
      },
    }),
  )
  const observer = opened.use(
    createObserver(
      { queue, actuator, now, readDepth: () => poolDepth(queue, pool), malformed: events.malformed },
      { pool, slots: config.poolSlots },
    ),
  )
  opened.use(queue.subscribe(pokeSubject(pool), bell.ring))
  const parts = opened.move()
  return {
    probeUrl: probe.url,
    loop: {
      observer,
      bell,
      act: (decision) => carryOut({ actuator, queue, pool }, decision),
      decided: (tick) => {
        turned(tick)
        events.decided(tick)
      },
      failed: (error) => {
        turned()
        events.tickFailed(error)
      },
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}
