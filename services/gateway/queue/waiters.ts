import type { Exchange } from '#gateway/http/exchange.ts'
import type { BufferedBytes } from '#gateway/images/read-image.ts'
import { createConcurrencyLimit } from '#gateway/limits/concurrency-limit.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { isTerminal } from '#shared/capture/status.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { resultCodec } from '#shared/queue/messages.ts'
import { eventFilter, eventSubject, resultSubject } from '#shared/queue/subjects.ts'
import { isCaptureObjectKey } from '#shared/storage/objects.ts'

/** An image read when a worker reported it, before the ledger decided whether this report is the capture's result. */
export type Prefetch = { readonly objectKey: string; readonly bytes: Promise<Buffer | undefined> }

/** Wakes its owner when a row may have changed. */
export type Watcher = Disposable & {
  /** Resolves on an event since the last call, on shutdown, or after `ms`; with false only on timeout. */
  readonly waitForChange: (ms: number) => Promise<boolean>
  /** Resolves the current call of `waitForChange`, or the next one. */
  readonly wake: () => void
}

/** A synchronous request that waits for the end of its capture. */
export type Waiter = Disposable & {
  readonly waitForChange: (ms: number) => Promise<unknown>
  readonly wake: () => void
  readonly prefetch: () => Prefetch | undefined
  /** Takes a slot for the account. False: no slot is free. */
  readonly takeSlot: () => boolean
}

/** The requests of this gateway that wait for captures. */
export type Waiters = ReturnType<typeof createWaiters>

type Dependencies = {
  readonly queue: Pick<Queue, 'subscribe'>
  /** Reads an object that is small enough to be buffered; undefined otherwise, or if it is missing. */
  readonly readSmall: (objectKey: string) => Promise<Buffer | undefined>
  readonly bufferedImages: Pick<BufferedBytes, 'fits' | 'hold'>
  readonly waitersMax: number
}

/** The object of a reported image; undefined for another report, and for a malformed one. */
const imageOf = (id: string, data: Uint8Array): string | undefined => {
  try {
    const result = resultCodec.decode(data)
    if (result.outcome !== 'completed' || result.id !== id) return undefined
    return isCaptureObjectKey(id, result.objectKey) ? result.objectKey : undefined
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

const createTimedWakeup = (isStopping: () => boolean) => {
  let wakeup = Promise.withResolvers<boolean>()
  return {
    wake: () => wakeup.resolve(true),
    waitForChange: async (ms: number) => {
      if (isStopping()) return true
      const timer = setTimeout(() => wakeup.resolve(false), ms)
      const woken = await wakeup.promise
      clearTimeout(timer)
      wakeup = Promise.withResolvers<boolean>()
      return woken
    },
  }
}

/**
 * Limits waiters to `max`, and each account to `max / (accounts + 1)`: half while it is the only account, a third beside
 * another. So one share is always free for the next account.
 */
const createShares = (max: number) =>
  createConcurrencyLimit({ max, accountMax: (accounts) => Math.max(1, max / (accounts + 1)) })

/** Reads one image ahead, and counts it as buffered until `held` is disposed of: it waits for the ledger as long as its waiter does. */
const createPrefetch = (
  { readSmall, bufferedImages }: Pick<Dependencies, 'readSmall' | 'bufferedImages'>,
  held: DisposableStack,
) => {
  let prefetch: Prefetch | undefined
  const keep = (bytes: Buffer | undefined) => {
    if (bytes === undefined || held.disposed || !bufferedImages.fits(bytes.length)) return undefined
    held.use(bufferedImages.hold(bytes.length))
    return bytes
  }
  return {
    read: (objectKey: string) => {
      prefetch ??= { objectKey, bytes: readSmall(objectKey).then(keep, () => undefined) }
    },
    prefetch: () => prefetch,
  }
}

/**
 * Waits for workers' results and the ledger's completion events. Each waiter subscribes to those that it waits for: a gateway receives
 * none that nobody there waits for, however many other gateways there are.
 */
export const createWaiters = ({ queue, readSmall, bufferedImages, waitersMax }: Dependencies) => {
  let stopping = false
  const watchers = new Set<Watcher>()
  const shares = createShares(waitersMax)

  const watch = ({ accountId, id }: { readonly accountId: string; readonly id?: string }): Watcher => {
    const { wake, waitForChange } = createTimedWakeup(() => stopping)
    const subscription = queue.subscribe(
      id === undefined ? eventFilter(accountId) : eventSubject({ accountId, id }),
      wake,
    )
    const leave = () => {
      if (watchers.delete(watcher)) subscription[Symbol.dispose]()
    }
    const watcher = { wake, waitForChange, [Symbol.dispose]: leave }
    watchers.add(watcher)
    return watcher
  }

  const begin = (capture: { readonly accountId: string; readonly id: string; readonly pool: Pool }): Waiter => {
    using stack = new DisposableStack()
    const { waitForChange, wake: wakeOne } = stack.use(watch(capture))
    const { read, prefetch } = createPrefetch({ readSmall, bufferedImages }, stack.use(new DisposableStack()))
    stack.use(
      queue.subscribe(resultSubject(capture), ({ data }) => {
        const objectKey = imageOf(capture.id, data)
        if (objectKey !== undefined) read(objectKey)
      }),
    )
    const owned = stack.move()
    return {
      waitForChange,
      wake: wakeOne,
      prefetch,
      takeSlot: () => {
        const slot = shares.take(capture.accountId)
        if (typeof slot === 'string') return false
        owned.use(slot)
        return true
      },
      [Symbol.dispose]: () => owned.dispose(),
    }
  }

  const wake = () => {
    for (const watcher of watchers) watcher.wake()
  }

  return {
    /** Waits for the end of a capture. What ended before this call is not noticed. Unbounded until a slot is taken. */
    begin,
    /** Watches one capture, or all captures of an account. Unbounded: the caller limits how many. */
    watch,
    count: () => watchers.size,
    /** Wakes all waiters. */
    wake,
    /** Ends all waits, present and future. */
    stop: () => {
      stopping = true
      wake()
    },
    isStopping: () => stopping,
  }
}

/** Maximum between two reads of the row, because an event may be lost. */
const pollMs = 1000

/** How a wait ended: with a terminal capture, or by timeout or shutdown while the capture is still running. */
export type WaitResult<Capture> = { readonly capture: Capture } | 'accepted'

const readCapture = async <Capture>(find: () => Promise<Capture | undefined>) => {
  try {
    return { capture: await find() }
  } catch (error) {
    // The capture does not depend on this request; the next read may succeed.
    if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') return undefined
    throw error
  }
}

/**
 * Waits at most `boundMs` for the end of a capture, and no longer than its client does. Events only trigger a read: the row decides.
 * Throws `NOT_FOUND` if the capture was deleted meanwhile.
 */
export const waitForEnd = async <Capture extends Pick<FoundCapture, 'status'>>(
  deps: {
    readonly find: () => Promise<Capture | undefined>
    readonly isStopping: () => boolean
    readonly watchClient: Exchange['watchClient']
  },
  waiter: Pick<Waiter, 'waitForChange' | 'wake'>,
  boundMs: number,
): Promise<WaitResult<Capture>> => {
  using client = deps.watchClient()
  client.signal.addEventListener('abort', waiter.wake)
  const isOver = () => client.signal.aborted || deps.isStopping()
  const end = performance.now() + boundMs
  for (let leftMs = boundMs; leftMs > 0 && !isOver(); leftMs = end - performance.now()) {
    await waiter.waitForChange(Math.min(pollMs, leftMs))
    const found = await readCapture(deps.find)
    if (found && !found.capture) throw new AppError('NOT_FOUND')
    if (found?.capture && isTerminal(found.capture.status)) return { capture: found.capture }
  }
  return 'accepted'
}
