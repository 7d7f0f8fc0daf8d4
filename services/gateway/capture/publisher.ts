import type { CaptureToPublish } from '#shared/queue/publish-capture.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Events } from '#gateway/events.ts'

/** Outbox rows of stored messages are deleted in batches after this, well before the relay publishes them again (`relayAfterMs`). */
const flushMs = 1000
const flushRows = 100
/** Maximum of concurrent publishes; further captures are left to the ledger's relay. */
const inFlightMax = 1000
/** Minimum between two pokes of a pool's controller, each of which covers the whole pool. */
const pokeEveryMs = 100

type Dependencies = {
  readonly publishCapture: (capture: CaptureToPublish) => Promise<unknown>
  readonly deleteOutbox: (ids: readonly string[]) => Promise<unknown>
  readonly poke: (pool: Pool) => void
  readonly nudge: () => void
  readonly events: Pick<Events, 'published' | 'notPublished' | 'outboxKept'>
}

/** Publishes accepted captures in the background. The ledger's relay publishes those that fail here. */
export type Publisher = ReturnType<typeof createPublisher>

/** Resolves at the end of the event loop's turn, so that captures accepted in one turn are published in one write. */
const createTurnEnd = (): (() => Promise<void>) => {
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

/** Creates a publisher. Disposing it waits for publishes in flight and deletes the last outbox rows. */
export const createPublisher = (deps: Dependencies) => {
  const inFlight = new Set<Promise<void>>()
  const pokedAt = new Map<Pool, number>()
  let stored: string[] = []
  let timer: NodeJS.Timeout | undefined
  const endOfTurn = createTurnEnd()

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
    /** Publishes an admitted capture; above the bound, leaves it to the relay. */
    publish: (capture: CaptureToPublish): void => {
      if (inFlight.size < inFlightMax) track(publishOne(capture))
      else deps.nudge()
    },
    /** Wakes the ledger's relay. */
    nudge: deps.nudge,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(inFlight)
      await flush()
      await Promise.all(inFlight)
    },
  }
}
