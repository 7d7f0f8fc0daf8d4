import type { Pool } from '#shared/capture/lane.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import {
  backlogCodec,
  type HeartbeatMessage,
  heartbeatCodec,
  type StartedMessage,
  startedCodec,
} from '#shared/queue/messages.ts'
import { backlogSubject, heartbeatFilter, parseCaptureId, startedFilter } from '#shared/queue/subjects.ts'
import type { Backlog } from '#controller/decide/pool.ts'

/** A backlog message is unknown once the next one is due for longer than that: two intervals, since one may be lost, and a second. */
const staleAfterMs = (nextMs = 2000): number => 2 * nextMs + 1000
/** A worker is forgotten after this time without a heartbeat, counting only time in which messages were received. */
const forgetAfterMs = 60_000
/** Interval of the search for such workers, which visits all. */
const searchMs = 10_000
/** Most workers that are remembered; more than ever exist. */
const workersMax = 4096

/** The newest heartbeat of a worker, and when it was received. */
export type ReceivedHeartbeat = { readonly heartbeat: HeartbeatMessage; readonly atMs: number }

/** Reports of all workers that serve one queue, whichever pool they belong to, and the queue's backlog. */
export type PoolSubscription = ReturnType<typeof subscribeToPool>

/** Callbacks are called synchronously, in the order of the messages, and must not throw. */
export type PoolSubscriptionDeps = {
  readonly queue: Pick<Queue, 'subscribe'>
  readonly now: () => number
  /** Called with the subject of a message that breaks its schema. */
  readonly malformed: (subject: string) => void
  /** Called with each heartbeat that differs from that worker's last one. */
  readonly changed?: (heartbeat: HeartbeatMessage, before: HeartbeatMessage | undefined) => void
  /** Called with each attempt that begins or is handed back; without it there is no subscription to these reports. */
  readonly started?: (message: StartedMessage) => void
}

type Stored = { readonly bytes: Uint8Array; heartbeat: HeartbeatMessage; atMs: number }

/** Keeps the newest backlog message and the start of the unbroken series it belongs to: in a gap, heartbeats may be lost too. */
const followBacklog = (now: () => number) => {
  let last: { backlog: Backlog; sinceMs: number; staleMs: number } | undefined
  return {
    take: (backlog: Backlog, nextMs?: number) => {
      const { atMs } = backlog
      const sinceMs = last && atMs <= last.staleMs ? last.sinceMs : atMs
      last = { backlog, sinceMs, staleMs: atMs + staleAfterMs(nextMs) }
    },
    backlog: (): Backlog | 'unknown' => (last && now() <= last.staleMs ? last.backlog : 'unknown'),
    listeningMs: (fromMs: number): number =>
      last ? Math.max(0, last.backlog.atMs - Math.max(fromMs, last.sinceMs)) : 0,
  }
}

/** Keeps the newest heartbeat of each worker. A byte-identical repeat costs one comparison. */
const followHeartbeats = (deps: Pick<PoolSubscriptionDeps, 'now' | 'malformed' | 'changed'>, pool: Pool) => {
  const received = new Map<string, Stored>()
  let lastSearchMs = Number.NEGATIVE_INFINITY
  const [before = '', after = ''] = heartbeatFilter(pool).split('*')
  const podOf = (subject: string) => subject.slice(before.length, -after.length)
  return {
    received,
    take: ({ subject, data }: Incoming) => {
      const pod = podOf(subject)
      const last = received.get(pod)
      if (last && Buffer.compare(last.bytes, data) === 0) {
        last.atMs = deps.now()
        return
      }
      const heartbeat = heartbeatCodec.decode(data)
      // A worker reports on itself only.
      if (heartbeat.pod !== pod) return deps.malformed(subject)
      if (!last && received.size >= workersMax) return
      // Copied, because `data` is a view of a larger buffer of the NATS client; a small Buffer would be a view of Node's shared slab.
      received.set(pod, { bytes: new Uint8Array(data), heartbeat, atMs: deps.now() })
      deps.changed?.(heartbeat, last?.heartbeat)
    },
    forget: (isGone: (atMs: number) => boolean) => {
      if (deps.now() - lastSearchMs < searchMs) return
      lastSearchMs = deps.now()
      for (const [pod, { atMs }] of received) if (isGone(atMs)) received.delete(pod)
    },
  }
}

/** Subscribes to the reports about a queue. Hundreds of heartbeats per second cost little as long as they repeat. */
export const subscribeToPool = (deps: PoolSubscriptionDeps, pool: Pool) => {
  const backlogs = followBacklog(deps.now)
  const heartbeats = followHeartbeats(deps, pool)
  const onStarted = deps.started
  const subscriptions = new DisposableStack()

  const subscribe = (filter: string, take: (message: Incoming) => void) => {
    const received = (message: Incoming) => {
      try {
        take(message)
      } catch {
        deps.malformed(message.subject)
      }
    }
    subscriptions.use(deps.queue.subscribe(filter, received))
  }
  subscribe(backlogSubject(pool), ({ data }) => {
    const { pool: _pool, nextMs, ...counts } = backlogCodec.decode(data)
    backlogs.take({ ...counts, atMs: deps.now() }, nextMs)
    heartbeats.forget((atMs) => backlogs.listeningMs(atMs) > forgetAfterMs)
  })
  subscribe(heartbeatFilter(pool), heartbeats.take)
  if (onStarted) {
    subscribe(startedFilter(pool), ({ subject, data }) => {
      const message = startedCodec.decode(data)
      if (message.id !== parseCaptureId(subject)) return deps.malformed(subject)
      onStarted(message)
    })
  }

  return {
    /** The newest backlog message; unknown once two more should have come: after five seconds, at rest later. */
    backlog: backlogs.backlog,
    /** The newest heartbeats by pod, at most 4096, without workers that were silent for over a minute. */
    heartbeats: heartbeats.received as ReadonlyMap<string, ReceivedHeartbeat>,
    /** Milliseconds since `fromMs` in which the subscription certainly received messages. */
    listeningMs: backlogs.listeningMs,
    [Symbol.dispose]: () => subscriptions.dispose(),
  }
}
