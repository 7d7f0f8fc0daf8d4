import type { CaptureToPublish } from '#shared/queue/publish-capture.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Events } from '#gateway/telemetry/events.ts'

/** Outbox rows of stored messages are deleted in batches after this, well before the relay publishes them again (`relayAfterMs`). */
const flushMs = 1000
const flushRows = 100
/** Maximum of concurrent publishes; further captures are left to the ledger's relay. */
const inFlightMax = 1000
/** Minimum between two wakeups of a pool's controller, each of which covers the whole pool. */
const wakeupEveryMs = 100

type Dependencies = {
  readonly publishCapture: (capture: CaptureToPublish) => Promise<unknown>
  readonly deleteOutbox: (ids: readonly string[]) => Promise<unknown>
  readonly wakePool: (pool: Pool) => void
  readonly wakeRelay: () => void
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
  const wokenAt = new Map<Pool, number>()
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

  const wakePool = (pool: Pool) => {
    const now = performance.now()
    if (now - (wokenAt.get(pool) ?? -wakeupEveryMs) < wakeupEveryMs) return
    wokenAt.set(pool, now)
    deps.wakePool(pool)
  }

  const publishOne = async (capture: CaptureToPublish) => {
    try {
      await endOfTurn()
      await deps.publishCapture(capture)
      wakePool(capture.pool)
      noteStored(capture.id)
      deps.events.published(capture.lane)
    } catch (error) {
      deps.events.notPublished(capture.id, error)
      deps.wakeRelay()
    }
  }

  return {
    /** Publishes an admitted capture; above the bound, leaves it to the relay. */
    publish: (capture: CaptureToPublish): void => {
      if (inFlight.size < inFlightMax) track(publishOne(capture))
      else deps.wakeRelay()
    },
    /** Wakes the ledger's relay. */
    wakeRelay: deps.wakeRelay,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(inFlight)
      await flush()
      await Promise.all(inFlight)
    },
  }
}
