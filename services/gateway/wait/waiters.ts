import { AppError } from '#shared/errors/app-error.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { eventCodec, resultCodec } from '#shared/queue/messages.ts'
import { accountIdOf, captureIdOf, eventFilter, resultFilter } from '#shared/queue/subjects.ts'
import { isObjectKeyOf } from '#shared/storage/objects.ts'

/** An image whose reading began when a worker reported it, before it was known whether it counts. */
export type HeadStart = { readonly objectKey: string; readonly bytes: Promise<Buffer | undefined> }

/** One synchronous capture that waits for its end. */
export type Waiter = Disposable & {
  /** Resolves once something was said of the capture since the last call, the gateway stops, or `ms` have passed. */
  readonly news: (ms: number) => Promise<unknown>
  readonly headStart: () => HeadStart | undefined
}

/** Somebody who wants to know when to look at a row again. */
export type Follower = Disposable & {
  /** As a waiter's; answers whether it was woken, before the time was over. */
  readonly news: (ms: number) => Promise<boolean>
  /** Has `news` resolve now, or at its next call. */
  readonly wake: () => void
}

/** The captures that clients of this gateway wait for. */
export type Waiters = Disposable & {
  /** Begins to listen for the end of one capture, or of all captures of an account, by its id. How many may is the caller's to bound. */
  readonly follow: (id: string) => Follower
  /** Begins to listen for a capture, before it is accepted; undefined where too many wait already. */
  readonly begin: (id: string) => Waiter | undefined
  readonly count: () => number
  /** Has all waiters look now. */
  readonly wake: () => void
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

type Entry = Follower & { headStart: HeadStart | undefined; readonly wantsImage: boolean }

const decode = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Entries by the id that they listen for; several may listen for the same. */
const createEntries = (isStopping: () => boolean) => {
  const byId = new Map<string, Set<Entry>>()
  let images = 0

  const remove = (id: string, entry: Entry) => {
    const others = byId.get(id)
    if (!others?.delete(entry)) return
    if (others.size === 0) byId.delete(id)
    if (entry.wantsImage) images -= 1
  }

  const add = (id: string, wantsImage: boolean): Entry => {
    let bell = Promise.withResolvers<boolean>()
    const entry: Entry = {
      wantsImage,
      headStart: undefined,
      wake: () => bell.resolve(true),
      news: async (ms) => {
        if (isStopping()) return true
        const timer = setTimeout(() => bell.resolve(false), ms)
        const woken = await bell.promise
        clearTimeout(timer)
        bell = Promise.withResolvers<boolean>()
        return woken
      },
      [Symbol.dispose]: () => remove(id, entry),
    }
    byId.set(id, (byId.get(id) ?? new Set()).add(entry))
    if (wantsImage) images += 1
    return entry
  }

  return {
    add,
    at: (id: string): Entry[] => [...(byId.get(id) ?? [])],
    wakeAll: () => {
      for (const entries of byId.values()) for (const entry of entries) entry.wake()
    },
    images: () => images,
    count: () => [...byId.values()].reduce((sum, { size }) => sum + size, 0),
  }
}

/** Listens to what workers report and to what the ledger has committed, with one subscription each for all waiters. */
export const createWaiters = ({ queue, readSmall, waitersMax }: Dependencies): Waiters => {
  let stopping = false
  const entries = createEntries(() => stopping)

  const onResult = (id: string, data: Uint8Array) => {
    const eager = entries.at(id).filter(({ wantsImage, headStart }) => wantsImage && !headStart)
    if (eager.length === 0) return
    const result = decode(() => resultCodec.decode(data))
    if (result?.outcome !== 'completed' || result.id !== id || !isObjectKeyOf(id, result.objectKey)) return
    const { objectKey } = result
    const headStart = { objectKey, bytes: readSmall(objectKey).catch(() => undefined) }
    for (const entry of eager) entry.headStart = headStart
  }

  const onEvent = (accountId: string, data: Uint8Array) => {
    const event = decode(() => eventCodec.decode(data))
    if (!event) return
    for (const entry of [...entries.at(event.id), ...entries.at(accountId)]) entry.wake()
  }

  const subscriptions = [
    queue.subscribe(resultFilter, ({ subject, data }) => onResult(captureIdOf(subject), data)),
    queue.subscribe(eventFilter, ({ subject, data }) => onEvent(accountIdOf(subject), data)),
  ]

  const begin = (id: string): Waiter | undefined => {
    if (entries.images() >= waitersMax) return undefined
    const entry = entries.add(id, true)
    return { news: entry.news, headStart: () => entry.headStart, [Symbol.dispose]: entry[Symbol.dispose] }
  }

  return {
    begin,
    follow: (id) => entries.add(id, false),
    count: entries.count,
    wake: entries.wakeAll,
    stop: () => {
      stopping = true
      entries.wakeAll()
    },
    isStopping: () => stopping,
    [Symbol.dispose]: () => {
      for (const subscription of subscriptions) subscription[Symbol.dispose]()
    },
  }
}
