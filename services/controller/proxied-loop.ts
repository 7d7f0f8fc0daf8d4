import { subscribeToPool } from './loop/subscribe-to-pool.ts'
import { calmTiming } from './loop/loop.ts'
import type { LoopParts, WorkerLoop } from './pool-loop.ts'
import { createWakeup } from '#shared/process/wakeup.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { createJobReports, wakeByReports } from './proxied/job-reports.ts'
import { createLocalRuns } from './proxied/local-runs.ts'
import { createProxiedObserver } from './proxied/observe-proxied.ts'
import { summarizeJobs } from './telemetry/proxied-events.ts'
import { proxiedQueue, runProxied } from './proxied/run-proxied.ts'

const pool = 'proxied'
/** Least time between two ticks, however often the loop is woken; it adds at most this to the start time of a Job. */
const gapMs = 20

type ProxiedLoopOptions = {
  /** Module that a single-use worker process runs. */
  readonly entry: string
  /** Its whole environment, except its name. */
  readonly env: Readonly<Record<string, string>>
  readonly max: number
  readonly spares: number
  /** Longest life of a process in milliseconds. */
  readonly lifeMs: number
}

/** Opens the loop that starts one process for each capture with a caller's proxy. */
export const openProxiedLoop = (parts: LoopParts, options: ProxiedLoopOptions): WorkerLoop => {
  const { queue, now, killAfterMs } = parts
  const { max, spares, ...processes } = options
  const opened = new AsyncDisposableStack()
  const labels = { queue: pool, browserpool: pool } as const
  const events = opened.use(parts.events.jobs(labels))
  const { tickFailed, reconciled } = opened.use(parts.events.of(labels))
  const reportTick = parts.health.follow()
  const wakeup = createWakeup(gapMs)
  const reports = createJobReports(now)
  const runner = opened.use(
    createLocalRuns({
      ...processes,
      killAfterMs,
      notice: (notice) => {
        events.noticed(notice)
        if (notice.kind === 'ended') wakeup.notify()
      },
    }),
  )
  const woken = wakeByReports(reports, wakeup.notify)
  const subscription = opened.use(subscribeToPool({ queue, now, malformed: parts.events.malformed, ...woken }, pool))
  const { publishState, subscribeToPoolWakeups } = proxiedQueue(queue)
  opened.use(subscribeToPoolWakeups(wakeup))
  const observe = createProxiedObserver({ runner, reports, subscription, now, readDepth: () => poolDepth(queue, pool) })
  const policy = { isPaused: false, max, spares, revision: '' }
  let isCalm = false
  return {
    run: (stop) =>
      runProxied(
        {
          observe,
          runner,
          wakeup,
          publishState,
          policy: () => policy,
          decided: (tick) => {
            isCalm = tick.decision.reason === 'steady' && tick.decision.wanted === spares
            reportTick({ ready: tick.decision.state !== undefined, detail: detailOf(summarizeJobs(tick.observation)) })
            events.decided(tick, policy)
          },
          failed: (error) => {
            reportTick()
            tickFailed(error)
          },
          took: reconciled,
        },
        calmTiming(parts.timing, () => isCalm),
        stop,
      ),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** The probe merges the details of all loops into one object, so each loop uses its own keys. */
const detailOf = ({ jobs, waiting }: ReturnType<typeof summarizeJobs>) => ({ jobs, proxiedWaiting: waiting })
