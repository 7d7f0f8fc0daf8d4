import type { CaptureToPublish } from '#shared/queue/publish-capture.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Events } from '#gateway/events.ts'

/** Rows whose messages are stored wait this long for others, so that they are deleted together: well before the relay takes them for lost (`relayAfterMs`). */
const flushMs = 1000
const flushRows = 100
/** Publishes under way at one time; what is beyond is left to the ledger's relay. */
const inFlightMax = 1000
/** Captures of one pool within this time poke its controller once: it looks at the whole pool. */
const pokeEveryMs = 100

type Dependencies = {
  readonly publishCapture: (capture: CaptureToPublish) => Promise<unknown>
  readonly deleteOutbox: (ids: readonly string[]) => Promise<unknown>
  readonly poke: (pool: Pool) => void
  readonly nudge: () => void
  readonly events: Pick<Events, 'published' | 'notPublished' | 'outboxKept'>
}

/** Publishes accepted captures without making anybody wait. Whatever fails here, the ledger's relay does later. */
export type Publisher = ReturnType<typeof createPublisher>

/** What is accepted in one turn of the event loop is published together at its end, so that it leaves in one write. */
const followTurns = (): (() => Promise<void>) => {
  let end: Promise<void> | undefined
  return () => {
    end ??= new Promise((resolve) => {
      setImmediate(() => {
        end = undefined
        resolve()
      })
    })
    return end
  }
}

/** Makes a publisher. Disposing it waits for what is under way and deletes the last outbox rows. */
export const createPublisher = (deps: Dependencies) => {
  const inFlight = new Set<Promise<void>>()
  const pokedAt = new Map<Pool, number>()
  let stored: string[] = []
  let timer: NodeJS.Timeout | undefined
  const endOfTurn = followTurns()

  const flush = async () => {
    clearTimeout(timer)
    timer = undefined
    const ids = stored
    stored = []
    if (ids.length > 0)
      await deps.deleteOutbox(ids).catch((error: unknown) => deps.events.outboxKept(ids.length, error))
  }

  const track = (work: Promise<void>) => {
    const tracked = work.finally(() => inFlight.delete(tracked))
    inFlight.add(tracked)
  }

  const noteStored = (id: string) => {
    stored.push(id)
    if (stored.length >= flushRows) track(flush())
    else timer ??= setTimeout(() => track(flush()), flushMs)
  }

  const poke = (pool: Pool) => {
    const now = performance.now()
    if (now - (pokedAt.get(pool) ?? -pokeEveryMs) < pokeEveryMs) return
    pokedAt.set(pool, now)
    deps.poke(pool)
  }

  const publishOne = async (capture: CaptureToPublish) => {
    try {
      await endOfTurn()
      await deps.publishCapture(capture)
      poke(capture.pool)
      noteStored(capture.id)
      deps.events.published(capture.lane)
    } catch (error) {
      deps.events.notPublished(capture.id, error)
      deps.nudge()
    }
  }

  return {
    /** Publishes an admitted capture. */
    publish: (capture: CaptureToPublish): void => {
      if (inFlight.size < inFlightMax) track(publishOne(capture))
      else deps.nudge()
    },
    /** Says that a capture waits for its turn. */
    nudge: deps.nudge,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(inFlight)
      await flush()
      await Promise.all(inFlight)
    },
  }
}
