import type { Pool } from '#shared/capture/lane.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import { backlogCodec, type BeatMessage, beatCodec, type StartedMessage, startedCodec } from '#shared/queue/messages.ts'
import { backlogSubject, beatFilter, captureIdOf, startedFilter } from '#shared/queue/subjects.ts'
import type { Backlog } from './pool.ts'

/** A count older than this is unknown. The ledger counts every second. */
const staleAfterMs = 5000
/** A worker that could have been heard for this long and was not is forgotten. */
const forgetAfterMs = 60_000
/** Looking for such workers costs a look at all. */
const lookForGoneMs = 10_000
/** Most workers that are listened to; there are never as many. */
const heardMax = 4096

/** The newest beat of a worker, and when it came. */
export type Heard = { readonly beat: BeatMessage; readonly atMs: number }

/** What is heard of all workers of one kind of pool, whoever runs them, and of their queue. */
export type PoolHearing = Disposable & {
  /** What the ledger counted at last; unknown where that is older than five seconds. */
  readonly backlog: () => Backlog | 'unknown'
  /** The newest beats by pod, at most 4096; one that was silent for a minute is left out. */
  readonly beats: ReadonlyMap<string, Heard>
  /** Milliseconds of the time in which we certainly could hear that passed since `fromMs`. */
  readonly heardSince: (fromMs: number) => number
}

/** What a hearing works with. All calls come at once, in the order of the messages, and must not throw. */
export type HearPoolDeps = {
  readonly queue: Pick<Queue, 'subscribe'>
  readonly now: () => number
  /** Hears of messages that break their schema. */
  readonly malformed: (subject: string) => void
  /** Hears of each beat that says something else than that worker's last one. */
  readonly changed?: (beat: BeatMessage, before: BeatMessage | undefined) => void
  /** Hears of each attempt that begins or is handed back. Without it these reports are not asked for. */
  readonly started?: (message: StartedMessage) => void
}

type Stored = { readonly bytes: Uint8Array; beat: BeatMessage; atMs: number }

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
    heardSince: (fromMs: number): number => (last ? Math.max(0, last.atMs - Math.max(fromMs, last.sinceMs)) : 0),
  }
}

/** Keeps the newest beat of each worker. One that repeats the last, byte by byte, costs no more than a look. */
const listenToBeats = (deps: Pick<HearPoolDeps, 'now' | 'malformed' | 'changed'>, pool: Pool) => {
  const heard = new Map<string, Stored>()
  let lookedMs = Number.NEGATIVE_INFINITY
  const [before = '', after = ''] = beatFilter(pool).split('*')
  const podOf = (subject: string) => subject.slice(before.length, -after.length)
  return {
    heard,
    take: ({ subject, data }: Incoming) => {
      const pod = podOf(subject)
      const last = heard.get(pod)
      if (last && Buffer.compare(last.bytes, data) === 0) {
        last.atMs = deps.now()
        return
      }
      const beat = beatCodec.decode(data)
      // A worker speaks for itself only.
      if (beat.pod !== pod) return deps.malformed(subject)
      if (!last && heard.size >= heardMax) return
      // A copy of its own: what came is a part of a larger buffer of the client, and so would be a small Buffer.
      heard.set(pod, { bytes: new Uint8Array(data), beat, atMs: deps.now() })
      deps.changed?.(beat, last?.beat)
    },
    forget: (isGone: (atMs: number) => boolean) => {
      if (deps.now() - lookedMs < lookForGoneMs) return
      lookedMs = deps.now()
      for (const [pod, { atMs }] of heard) if (isGone(atMs)) heard.delete(pod)
    },
  }
}

/** Begins to listen to a kind of pool. Hundreds of beats per second cost little as long as they say nothing new. */
export const hearPool = (deps: HearPoolDeps, pool: Pool): PoolHearing => {
  const counted = listenToBacklog(deps.now)
  const beats = listenToBeats(deps, pool)
  const hearStarted = deps.started

  const decoded = (take: (message: Incoming) => void) => (message: Incoming) => {
    try {
      take(message)
    } catch {
      deps.malformed(message.subject)
    }
  }
  const subscriptions = [
    deps.queue.subscribe(
      backlogSubject(pool),
      decoded(({ data }) => {
        counted.take(backlogCodec.decode(data))
        beats.forget((atMs) => counted.heardSince(atMs) > forgetAfterMs)
      }),
    ),
    deps.queue.subscribe(beatFilter(pool), decoded(beats.take)),
  ]
  if (hearStarted) {
    const take = ({ subject, data }: Incoming) => {
      const message = startedCodec.decode(data)
      if (message.id !== captureIdOf(subject)) return deps.malformed(subject)
      hearStarted(message)
    }
    subscriptions.push(deps.queue.subscribe(startedFilter(pool), decoded(take)))
  }

  return {
    backlog: counted.backlog,
    beats: beats.heard,
    heardSince: counted.heardSince,
    [Symbol.dispose]: () => {
      for (const subscription of subscriptions) subscription[Symbol.dispose]()
    },
  }
}
