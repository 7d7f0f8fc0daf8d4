import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { finished } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '#shared/capture/lane.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { trustAdvice } from '#shared/errors/untrusted-authority.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { handedBackKeysMax, type Put, signedCodec } from '#shared/queue/messages.ts'
import { signSubject } from '#shared/queue/subjects.ts'
import type { PullGate } from '#worker/lifecycle/pull-gate.ts'

const depthMax = 4

/** The messages of an error and its causes, four at most, for logs. */
export const describeError = (thrown: unknown, depth = 1): string => {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : 'unknown error'
  const { message, cause } = thrown
  return cause === undefined || depth >= depthMax ? message : `${message}: ${describeError(cause, depth + 1)}`
}

const firstRetryMs = 200
const longestRetryMs = 2000
const responseMs = 10_000
const signMs = 2000
/** Longest time for which an image is retried after its attempt was handed back. */
const lateMs = 3_600_000
/** Failed tries of one image after which the worker is held; a single one may be a lost connection. */
const heldAfterTries = 2

/** Milliseconds to wait after the `tries`th failed try (1: the first). A store that is back waits 2 s at most for its images. */
export const retryDelayMs = (tries: number): number => Math.min(firstRetryMs * 2 ** (tries - 1), longestRetryMs)

type Image = { readonly bytes: Uint8Array; readonly mimeType: string }

/** The image of the capture `id`, and its first address; `isExclusive`: no other run of the capture has that address. */
export type ImageToStore = {
  readonly id: string
  readonly image: Image
  readonly put: Put | undefined
  readonly isExclusive: boolean
}

/** Where and how a worker stores images. */
export type Store = {
  /** Requests a new address for an image; undefined if its capture is no longer open. Throws `SERVICE_UNAVAILABLE`. */
  readonly sign: (captureId: string) => Promise<Put | undefined>
  readonly holds: Pick<PullGate, 'hold' | 'release' | 'holds'>
  /** The uploads that hold the worker, of all its slots. */
  readonly failing: Set<ImageUpload>
  /** Ends the retries of images whose attempts were handed back. */
  readonly stop: AbortSignal
}

/** `Store.sign` by a request to the gateway. */
export const requestAddress = async (
  queue: Pick<Queue, 'request'>,
  capture: { readonly pool: Pool; readonly id: string },
): Promise<Put | undefined> =>
  signedCodec.decode((await queue.request(signSubject(capture), new Uint8Array(), signMs)).data).put

/** Resolves to the status. Does not use `fetch`, which copies the bytes and takes a millisecond longer. */
const tryPut = async (url: string, { bytes, mimeType }: Image, waitMs: number): Promise<number> => {
  const { request } = url.startsWith('https:') ? https : http
  const put = request(url, {
    method: 'PUT',
    headers: { 'content-type': mimeType, 'content-length': bytes.byteLength, 'if-none-match': '*' },
    // `AbortSignal.timeout` accepts only whole milliseconds.
    signal: AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(waitMs, responseMs)))),
  })
  // Errors after the response are ignored; earlier ones reject `once`.
  put.on('error', () => {})
  put.end(bytes)
  const [response] = (await once(put, 'response')) as [http.IncomingMessage]
  await finished(response.resume()).catch(() => {})
  return response.statusCode ?? 0
}

/** Whether a retry with the same address may succeed. */
const isTransient = (status: number) => status >= 500 || status === 408 || status === 429

/**
 * The upload of one image. Whatever the store responds except 413 is a fault of the service: it is retried, with a new address
 * if the store refused the last one (expired, other credentials, a key that another run of the attempt has used). While
 * images fail the worker is held; the first one that is stored releases it.
 */
export class ImageUpload {
  readonly #store: Store
  readonly #capture: Pick<ImageToStore, 'id' | 'image'>
  /** Undefined: the next try requests one. */
  #put: Put | undefined
  /** Whether no other run of the capture was given this address, and none is given it from now on. */
  #isExclusive: boolean
  /** Whether the address was requested for this upload. */
  #isOwn = false
  /** Whether an earlier try may have stored the image at this address. */
  #isUncertain = false
  /** Keys of all such tries, the latest last. */
  readonly #doubtful = new Set<string>()
  #isClosed = false
  #fault = 'no time was left'

  constructor(store: Store, { put, isExclusive, ...capture }: ImageToStore) {
    this.#store = store
    this.#capture = capture
    this.#put = put
    this.#isExclusive = isExclusive
  }

  /** Whether nobody needs the image any more: its capture has ended by another run, or was deleted. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Keys at which the store may have the image although it did not confirm it; the latest twenty. */
  get doubtfulKeys(): string[] {
    return [...this.#doubtful].slice(-handedBackKeysMax)
  }

  /** Why the image is not stored, for logs. */
  get fault(): string {
    return this.#fault
  }

  /**
   * Resolves to the key once the image is stored; to undefined, and holds the worker, if it is not by `endsAt` (on
   * `performance`'s clock); to undefined at once if its capture is no longer open. Throws `RENDER_ERROR` if the store rejects
   * the image as too large. Only while the image is still to be stored does it hold the worker.
   */
  async storeBy(endsAt: number): Promise<string | undefined> {
    let tries = 0
    const mayRetry = () => {
      tries += 1
      if (tries >= heldAfterTries) this.#hold()
      return true
    }
    let isLeft = false
    try {
      const key = await this.#retry(endsAt, mayRetry)
      isLeft = key === undefined && !this.#isClosed
      return key
    } finally {
      if (isLeft) this.#hold()
      else this.#release()
    }
  }

  /**
   * Continues after the attempt was handed back, an hour at most, until the worker is no longer held: so the image in hand is
   * what probes the store. Then tries once more. Resolves to the key, or to undefined.
   */
  async storeLate(): Promise<string | undefined> {
    const { holds, stop } = this.#store
    // The attempt may be run again, with the address that came with the capture.
    if (!this.#isOwn) this.#isExclusive = false
    const isHeld = () => holds.holds().has('store')
    const key = await this.#retry(performance.now() + lateMs, isHeld, stop).catch(() => undefined)
    if (!stop.aborted) this.#release()
    return key
  }

  /** Once no other upload is left to probe the store with, the next capture does. */
  #release() {
    const { failing, holds } = this.#store
    failing.delete(this)
    if (failing.size === 0) holds.release('store')
  }

  #hold() {
    this.#store.failing.add(this)
    this.#store.holds.hold('store', `images cannot be stored: ${this.#fault}`)
  }

  async #retry(endsAt: number, mayRetry: () => boolean, signal?: AbortSignal): Promise<string | undefined> {
    for (let tries = 1; performance.now() < endsAt; tries += 1) {
      const key = await this.#try(endsAt - performance.now())
      if (key !== undefined) {
        this.#store.failing.clear()
        this.#release()
        return key
      }
      const retryMs = retryDelayMs(tries)
      if (this.#isClosed || !mayRetry() || performance.now() + retryMs >= endsAt) return undefined
      await delay(retryMs, undefined, { signal })
    }
    return undefined
  }

  async #try(leftMs: number): Promise<string | undefined> {
    const { id, image } = this.#capture
    let status = 0
    try {
      if (!this.#put) {
        this.#put = await this.#store.sign(id)
        this.#isOwn = true
        this.#isExclusive = true
      }
      if (!this.#put) {
        this.#isClosed = true
        this.#fault = 'the capture is no longer open'
        return undefined
      }
      status = await tryPut(this.#put.url, image, leftMs)
    } catch (error) {
      this.#fault = describeError(error) + trustAdvice(error)
      this.#isUncertain = this.#put !== undefined
      if (this.#put) this.#doubtful.add(this.#put.key)
      return undefined
    }
    if (status < 300 || (status === 412 && this.#isUncertain && this.#isExclusive)) return this.#put.key
    this.#fault = `status ${status} ${http.STATUS_CODES[status] ?? ''}`.trimEnd()
    if (status === 413) {
      throw new AppError('RENDER_ERROR', {
        message: `PUT ${this.#put.key}: ${image.bytes.byteLength} bytes, ${this.#fault}`,
        publicMessage:
          'The image is larger than the service stores; capture a smaller part of the page, or as jpeg or webp.',
        blame: 'caller',
      })
    }
    this.#isUncertain = isTransient(status)
    if (this.#isUncertain) this.#doubtful.add(this.#put.key)
    else this.#put = undefined
    return undefined
  }
}
