import type { Actuator, Placed } from '#controller/act/actuator.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import { backlogCodec, type BeatMessage, beatCodec } from '#shared/queue/messages.ts'
import { backlogSubject, beatFilter, beatSubject } from '#shared/queue/subjects.ts'
import type { Backlog, Depth, Observation, SeenWorker } from './pool.ts'

/** A count older than this is unknown. The ledger counts every second. */
const staleAfterMs = 5000
/** Longest wait for one read; the queue's own bound is longer than a tick. */
const readMs = 800
/** Most workers that are listened to; there are never as many. */
const heardMax = 4096

/** All reads of the controller in one place. */
export type Observer = Disposable & {
  /** Reads what there is and stamps the time. Never throws, answers within a second. */
  readonly observe: () => Promise<Observation>
}

type Heard = { readonly beat: BeatMessage; readonly atMs: number }

/** What an observer reads from. `malformed` hears of messages that break their schema. */
export type ObserverDeps = {
  readonly queue: Pick<Queue, 'subscribe'>
  readonly readDepth: () => Promise<Depth>
  readonly actuator: Pick<Actuator, 'list'>
  readonly now: () => number
  readonly malformed: (subject: string) => void
}

/** The value, or 'unknown' where the read fails or takes longer than `readMs`. */
const within = async <T>(read: Promise<T>): Promise<T | 'unknown'> => {
  const { promise: late, resolve } = Promise.withResolvers<'unknown'>()
  const timer = setTimeout(resolve, readMs, 'unknown')
  const value = await Promise.race([read.catch(() => 'unknown' as const), late])
  clearTimeout(timer)
  return value
}

/** One read at a time: a slow one is waited for again instead of being repeated. */
const single = <T>(read: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<T> | undefined
  return () => {
    running ??= read().finally(() => {
      running = undefined
    })
    return running
  }
}

/** Newest backlog message, and since when they have come without a gap: what is not heard in a gap says nothing. */
const listenToBacklog = (now: () => number) => {
  let last: { backlog: Backlog; atMs: number; sinceMs: number } | undefined
  return {
    take: (backlog: Backlog) => {
      const atMs = now()
      const sinceMs = last && atMs - last.atMs <= staleAfterMs ? last.sinceMs : atMs
      last = { backlog, atMs, sinceMs }
    },
    backlog: (): Backlog | 'unknown' => (last && now() - last.atMs <= staleAfterMs ? last.backlog : 'unknown'),
    /** Milliseconds of the time in which we certainly could hear that passed since `fromMs`. */
    heardSince: (fromMs: number): number => (last ? Math.max(0, last.atMs - Math.max(fromMs, last.sinceMs)) : 0),
  }
}

const meanServiceMs = (beats: readonly BeatMessage[]): number | undefined => {
  const measured = beats.flatMap(({ serviceMs }) => (serviceMs === undefined ? [] : [serviceMs]))
  return measured.length === 0 ? undefined : measured.reduce((sum, each) => sum + each, 0) / measured.length
}

/** Begins to listen to a pool. `slots` are assumed of a worker that has said nothing yet. */
export const createObserver = (deps: ObserverDeps, of: { pool: Pool; slots: number }): Observer => {
  const { now } = deps
  const counted = listenToBacklog(now)
  const heard = new Map<string, Heard>()
  const readDepth = single(deps.readDepth)
  const list = single(deps.actuator.list)
  let starts: Observation['starts'] = { ready: 0, failed: 0 }
  let serviceMs: number | undefined

  const decoded = (take: (message: Incoming) => void) => (message: Incoming) => {
    try {
      take(message)
    } catch {
      deps.malformed(message.subject)
    }
  }

  const takeBeat = ({ subject, data }: Incoming) => {
    const beat = beatCodec.decode(data)
    // A worker speaks for itself only.
    if (subject !== beatSubject({ pool: of.pool, pod: beat.pod })) return deps.malformed(subject)
    if (heard.has(beat.pod) || heard.size < heardMax) heard.set(beat.pod, { beat, atMs: now() })
  }

  const see = ({ pod, ageMs, stopping }: Placed, nowMs: number): SeenWorker => {
    const last = heard.get(pod)
    return {
      pod,
      state: stopping ? 'stopping' : (last?.beat.state ?? 'starting'),
      ageMs,
      silentMs: counted.heardSince(last?.atMs ?? nowMs - ageMs),
      slots: last?.beat.slots ?? of.slots,
      busy: last?.beat.busy ?? 0,
    }
  }

  const subscriptions = [
    deps.queue.subscribe(
      backlogSubject(of.pool),
      decoded(({ data }) => counted.take(backlogCodec.decode(data))),
    ),
    deps.queue.subscribe(beatFilter(of.pool), decoded(takeBeat)),
  ]

  return {
    observe: async () => {
      const [roster, depth] = await Promise.all([within(list()), within(readDepth())])
      const nowMs = now()
      const common = { nowMs, backlog: counted.backlog(), depth }
      if (roster === 'unknown') return { ...common, workers: 'unknown', starts, startMs: undefined, serviceMs }
      const present = new Set(roster.workers.map(({ pod }) => pod))
      for (const pod of heard.keys()) if (!present.has(pod)) heard.delete(pod)
      starts = roster.starts
      serviceMs = meanServiceMs([...heard.values()].map(({ beat }) => beat)) ?? serviceMs
      const workers = roster.workers.map((placed) => see(placed, nowMs))
      return { ...common, workers, starts, startMs: roster.startMs, serviceMs }
    },
    [Symbol.dispose]: () => {
      for (const subscription of subscriptions) subscription[Symbol.dispose]()
    },
  }
}
