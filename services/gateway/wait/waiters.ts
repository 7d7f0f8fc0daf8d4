import { AppError } from '#shared/errors/app-error.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { eventCodec, resultCodec } from '#shared/queue/messages.ts'
import { captureIdOf, eventFilter, resultFilter } from '#shared/queue/subjects.ts'
import { isObjectKeyOf } from '#shared/storage/objects.ts'

/** An image whose reading began when a worker reported it, before it was known whether it counts. */
export type HeadStart = { readonly objectKey: string; readonly bytes: Promise<Buffer | undefined> }

/** One synchronous capture that waits for its end. */
export type Waiter = Disposable & {
  /** Resolves once something was said of the capture since the last call, the gateway stops, or `ms` have passed. */
  readonly news: (ms: number) => Promise<void>
  readonly headStart: () => HeadStart | undefined
}

/** The captures that clients of this gateway wait for. */
export type Waiters = Disposable & {
  /** Begins to listen for a capture, before it is accepted; undefined where too many wait already. */
  readonly begin: (id: string) => Waiter | undefined
  readonly count: () => number
  /** Tells all waiters, present and future, to stop waiting. */
  readonly stop: () => void
  readonly isStopping: () => boolean
}

type Dependencies = {
  readonly queue: Pick<Queue, 'subscribe'>
  /** Reads an object that is small enough to be held in memory. */
  readonly readSmall: (objectKey: string) => Promise<Buffer | undefined>
  readonly waitersMax: number
}

type Entry = { wake: () => void; headStart: HeadStart | undefined }

const decode = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Listens to what workers report and to what the ledger has committed, with one subscription each for all waiters. */
export const createWaiters = ({ queue, readSmall, waitersMax }: Dependencies): Waiters => {
  const entries = new Map<string, Entry>()
  let stopping = false

  const onResult = (id: string, data: Uint8Array) => {
    const entry = entries.get(id)
    if (!entry || entry.headStart) return
    const result = decode(() => resultCodec.decode(data))
    if (result?.outcome !== 'completed' || result.id !== id || !isObjectKeyOf(id, result.objectKey)) return
    const { objectKey } = result
    entry.headStart = { objectKey, bytes: readSmall(objectKey).catch(() => undefined) }
  }

  const subscriptions = [
    queue.subscribe(resultFilter, ({ subject, data }) => onResult(captureIdOf(subject), data)),
    queue.subscribe(eventFilter, ({ data }) => {
      const event = decode(() => eventCodec.decode(data))
      if (event) entries.get(event.id)?.wake()
    }),
  ]

  const begin = (id: string): Waiter | undefined => {
    if (entries.size >= waitersMax) return undefined
    let wake = Promise.withResolvers<void>()
    const entry: Entry = { wake: () => wake.resolve(), headStart: undefined }
    entries.set(id, entry)
    return {
      news: async (ms) => {
        if (stopping) return
        const timer = setTimeout(() => wake.resolve(), ms)
        await wake.promise
        clearTimeout(timer)
        wake = Promise.withResolvers<void>()
      },
      headStart: () => entry.headStart,
      [Symbol.dispose]: () => entries.delete(id),
    }
  }

  return {
    begin,
    count: () => entries.size,
    stop: () => {
      stopping = true
      for (const entry of entries.values()) entry.wake()
    },
    isStopping: () => stopping,
    [Symbol.dispose]: () => {
      for (const subscription of subscriptions) subscription[Symbol.dispose]()
    },
  }
}
