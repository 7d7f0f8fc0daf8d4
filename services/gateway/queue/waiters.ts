import { createConcurrencyLimit } from '#gateway/limits/concurrency-limit.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { eventCodec, resultCodec } from '#shared/queue/messages.ts'
import { parseEventAccountId, parseCaptureId, eventFilter, resultFilter } from '#shared/queue/subjects.ts'
import { isCaptureObjectKey } from '#shared/storage/objects.ts'
import { isTerminal } from '#shared/capture/status.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'

/** An image read when a worker reported it, before the ledger decided whether this report is the capture's result. */
export type Prefetch = { readonly objectKey: string; readonly bytes: Promise<Buffer | undefined> }

/** A synchronous request that waits for the end of its capture. */
export type Waiter = Disposable & {
  /** Resolves on an event of the capture since the last call, on shutdown, or after `ms`. */
  readonly waitForChange: (ms: number) => Promise<unknown>
  readonly prefetch: () => Prefetch | undefined
  /** Takes a slot for the account, once it is known. False: no slot is free, and the waiter is disposed. */
  readonly takeSlot: (accountId: string) => boolean
}

/** Wakes its owner when a row may have changed. */
export type Watcher = Disposable & {
  /** As a waiter's; resolves with false on timeout. */
  readonly waitForChange: (ms: number) => Promise<boolean>
  /** Resolves the current call of `waitForChange`, or the next one. */
  readonly wake: () => void
}

/** The requests of this gateway that wait for captures. */
export type Waiters = ReturnType<typeof createWaiters>

type Dependencies = {
  readonly queue: Pick<Queue, 'subscribe'>
  /** Reads an object that is small enough to be buffered; undefined otherwise, or if it is missing. */
  readonly readSmall: (objectKey: string) => Promise<Buffer | undefined>
  readonly waitersMax: number
}

/** Waiters whose account is not known yet are accepted up to this multiple of the bound, so that one account's flood blocks no other. */
const unidentifiedFactor = 2

type Entry = Watcher & { prefetch: Prefetch | undefined; readonly wantsImage: boolean }

const decode = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Entries by the id of the capture or account whose events wake them; an id may have several. */
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
    let wakeup = Promise.withResolvers<boolean>()
    const entry: Entry = {
      wantsImage,
      prefetch: undefined,
      wake: () => wakeup.resolve(true),
      waitForChange: async (ms) => {
        if (isStopping()) return true
        const timer = setTimeout(() => wakeup.resolve(false), ms)
        const woken = await wakeup.promise
        clearTimeout(timer)
        wakeup = Promise.withResolvers<boolean>()
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

/**
 * Limits waiters to `max`, and each account to `max / (accounts + 1)`: half while it is the only account, a third beside
 * another. So one share is always free for the next account.
 */
const createShares = (max: number) =>
  createConcurrencyLimit({ max, accountMax: (accounts) => Math.max(1, max / (accounts + 1)) })

/** Subscribes to workers' results and to the ledger's completion events, once each for all waiters. */
export const createWaiters = ({ queue, readSmall, waitersMax }: Dependencies) => {
  let stopping = false
  const entries = createEntries(() => stopping)
  const shares = createShares(waitersMax)

  const onResult = (id: string, data: Uint8Array) => {
    const eager = entries.at(id).filter(({ wantsImage, prefetch }) => wantsImage && !prefetch)
    if (eager.length === 0) return
    const result = decode(() => resultCodec.decode(data))
    if (result?.outcome !== 'completed' || result.id !== id || !isCaptureObjectKey(id, result.objectKey)) return
    const { objectKey } = result
    const prefetch = { objectKey, bytes: readSmall(objectKey).catch(() => undefined) }
    for (const entry of eager) entry.prefetch = prefetch
  }

  const onEvent = (accountId: string, data: Uint8Array) => {
    const event = decode(() => eventCodec.decode(data))
    if (!event) return
    for (const entry of [...entries.at(event.id), ...entries.at(accountId)]) entry.wake()
  }

  const subscriptions = [
    queue.subscribe(resultFilter, ({ subject, data }) => onResult(parseCaptureId(subject), data)),
    queue.subscribe(eventFilter, ({ subject, data }) => onEvent(parseEventAccountId(subject), data)),
  ]

  const begin = (id: string): Waiter | undefined => {
    if (entries.images() >= waitersMax * unidentifiedFactor) return undefined
    const entry = entries.add(id, true)
    let slot: Disposable | undefined
    const leave = () => {
      entry[Symbol.dispose]()
      slot?.[Symbol.dispose]()
    }
    return {
      waitForChange: entry.waitForChange,
      prefetch: () => entry.prefetch,
      takeSlot: (accountId) => {
        const taken = slot ?? shares.take(accountId)
        if (typeof taken === 'string') leave()
        else slot = taken
        return typeof taken !== 'string'
      },
      [Symbol.dispose]: leave,
    }
  }

  return {
    /** Registers a waiter for a capture, before it is accepted; undefined if too many wait already. */
    begin,
    /** Watches one capture, or all captures of an account, by its id. Unbounded: the caller limits how many. */
    watch: (id: string): Watcher => entries.add(id, false),
    count: entries.count,
    /** Wakes all waiters. */
    wake: entries.wakeAll,
    /** Ends all waits, present and future. */
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

/** Maximum between two reads of the row, because an event may be lost. */
const pollMs = 1000

/** How a wait ended: with a terminal capture, or by timeout or shutdown while the capture is still running. */
export type WaitResult = { readonly capture: FoundCapture } | 'accepted'

const readCapture = async (find: () => Promise<FoundCapture | undefined>) => {
  try {
    return { capture: await find() }
  } catch (error) {
    // The capture does not depend on this request; the next read may succeed.
    if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') return undefined
    throw error
  }
}

/**
 * Waits at most `boundMs` for the end of a capture. Events only trigger a read: the row decides. Throws `NOT_FOUND` if the
 * capture was deleted meanwhile.
 */
export const waitForEnd = async (
  deps: { readonly find: () => Promise<FoundCapture | undefined>; readonly isStopping: () => boolean },
  waiter: Pick<Waiter, 'waitForChange'>,
  boundMs: number,
): Promise<WaitResult> => {
  const end = performance.now() + boundMs
  for (let leftMs = boundMs; leftMs > 0 && !deps.isStopping(); leftMs = end - performance.now()) {
    await waiter.waitForChange(Math.min(pollMs, leftMs))
    const found = await readCapture(deps.find)
    if (found && !found.capture) throw new AppError('NOT_FOUND')
    if (found?.capture && isTerminal(found.capture.status)) return { capture: found.capture }
  }
  return 'accepted'
}
