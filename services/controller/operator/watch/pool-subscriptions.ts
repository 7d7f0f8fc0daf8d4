import { hearPool, type PoolHearing } from '#controller/subscribe-to-pool.ts'
import { createJobReports, type JobReports } from '#controller/proxied/job-reports.ts'
import { type Pool, pools as kinds } from '#shared/capture/lane.ts'
import { type Clock, pause } from '#shared/kube/clock.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { beatMs } from '#shared/queue/messages.ts'
import { pokeSubject } from '#shared/queue/subjects.ts'

/** After this long, what was not heard is not said. */
const deafMs = 5000
/** Every worker beats at least once within this time, if nothing is slow. */
const allBeatMs = 1.25 * beatMs
const lookMs = 100

/** What is heard over NATS of all kinds of pools, whoever leads. */
export type Ears = Disposable & {
  readonly of: (kind: Pool) => PoolHearing
  /** What the workers of Jobs said. */
  readonly reports: JobReports
  /** Has a listener called, until disposed, when a kind of pool should be looked at. */
  readonly follow: (listener: (kind: Pool) => void) => Disposable
  /** Resolves once everything was heard that is said of a kind, by these pods too; after 5 s, or when `signal` aborts, anyway. */
  readonly haveHeard: (kind: Pool, pods: () => readonly string[], signal: AbortSignal) => Promise<void>
}

/** Begins to hear. */
export const openEars = (deps: {
  readonly queue: Pick<Queue, 'subscribe'>
  readonly clock: Clock
  readonly malformed: (subject: string) => void
}): Ears => {
  const { queue, clock, malformed } = deps
  const now = clock.nowMs
  const sinceMs = now()
  const reports = createJobReports(now)
  const listeners = new Set<(kind: Pool) => void>()
  using opened = new DisposableStack()

  const tell = (kind: Pool) => {
    for (const listener of listeners) listener(kind)
  }
  const hear = (kind: Pool): PoolHearing => {
    opened.use(queue.subscribe(pokeSubject(kind), () => tell(kind)))
    if (kind !== 'proxied') {
      const changed: Parameters<typeof hearPool>[0]['changed'] = (beat, before) => {
        if (beat.state !== before?.state) tell(kind)
      }
      return opened.use(hearPool({ queue, now, malformed, changed }, kind))
    }
    const heard = (take: () => void) => {
      take()
      tell(kind)
    }
    return opened.use(
      hearPool(
        {
          queue,
          now,
          malformed,
          changed: (beat) => heard(() => reports.beat(beat)),
          started: (message) => heard(() => reports.started(message)),
        },
        kind,
      ),
    )
  }
  const hearings = new Map(kinds.map((kind) => [kind, hear(kind)]))
  const of = (kind: Pool): PoolHearing => {
    const hearing = hearings.get(kind)
    if (!hearing) throw new TypeError(`nobody hears ${kind}`)
    return hearing
  }
  const parts = opened.move()
  return {
    of,
    reports,
    follow: (listener) => {
      listeners.add(listener)
      return { [Symbol.dispose]: () => listeners.delete(listener) }
    },
    haveHeard: async (kind, pods, signal) => {
      const { backlog, beats } = of(kind)
      const isHeard = () =>
        now() - sinceMs >= allBeatMs && backlog() !== 'unknown' && pods().every((pod) => beats.has(pod))
      while (!signal.aborted && !isHeard() && now() - sinceMs < deafMs) await pause(clock, lookMs, signal)
    },
    [Symbol.dispose]: () => parts.dispose(),
  }
}
