import type { IncomingMessage } from 'node:http'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import type { Client } from '#shared/policy/client.ts'
import { accountHolder, clientHolders, type ReachedBound, Shares } from '#shared/policy/shares.ts'

/** Bytes of bodies that one process receives at a time; a client or account gets a quarter, three of the largest bodies. */
const receivedBytesMax = 96 * 1024 * 1024
/** What a body of unknown length takes first; it takes twice as much whenever it outgrows that. */
const chunkedBytes = 64 * 1024
/** `Retry-After` of what exceeds it. */
const retryAfterSeconds = 1
/** What of a body above its bound is read and discarded, so that its sender receives the response. */
const discardedBytesMax = 56 * 1024 * 1024

/** Whether a request has a body, small or not. */
export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Whose body is read, and how large it may be, in bytes. */
export type BodyBounds = {
  readonly bytesMax: number
  readonly client: () => Client
  /** Of the identified caller. */
  readonly accountId?: string | undefined
}

/** What happens to bodies. */
type BodyEvents = {
  readonly bodyRefused: (bound: ReachedBound) => void
  /** Bytes that are set aside for the bodies that are being received: their length, or twice what has arrived if that is not known. */
  readonly bodyBytes: (bytes: number) => void
}

const subjects: Readonly<Record<ReachedBound, string>> = {
  client: 'this client',
  account: 'this account',
  all: 'all clients',
}

const tooLarge = (bytesMax: number) =>
  new AppError('PAYLOAD_TOO_LARGE', { publicMessage: `The body is larger than ${bytesMax} bytes.` })

const incomplete = (cause?: unknown) => new AppError('BAD_REQUEST', { message: 'the body is incomplete', cause })

/** Collects a body, each chunk once `grow` returns. Throws `PAYLOAD_TOO_LARGE` above `bytesMax`, `BAD_REQUEST` if it is incomplete. */
const collect = (request: IncomingMessage, bytesMax: number, grow: (bytes: number) => void): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let chunks: Buffer[] | undefined = []
    let bytes = 0
    const refuse = (error: AppError) => {
      chunks = undefined
      reject(error)
    }
    const receive = (chunk: Buffer) => {
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      grow(bytes)
      chunks?.push(chunk)
    }
    if (Number(request.headers['content-length']) > bytesMax) refuse(tooLarge(bytesMax))
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > discardedBytesMax) request.destroy()
      if (!chunks) return
      try {
        receive(chunk)
      } catch (error) {
        refuse(toAppError(error))
      }
    })
    request.on('end', () => resolve(Buffer.concat(chunks ?? [])))
    request.on('error', (cause) => reject(incomplete(cause)))
  })

/** Reads the bodies of requests, which share a budget of bytes in this process. */
export class Bodies {
  readonly #bytes: Shares
  readonly #events: BodyEvents

  constructor(events: BodyEvents, bytesMax = receivedBytesMax) {
    this.#bytes = new Shares(bytesMax)
    this.#events = events
  }

  /**
   * Reads a body. Throws `PAYLOAD_TOO_LARGE` above its bound, `BAD_REQUEST` if it is incomplete, and `SERVICE_UNAVAILABLE` if its
   * client, its account or all together send too much at a time: before reading it, or once a body of unknown length outgrows
   * what it took.
   */
  async read(request: IncomingMessage, { bytesMax, client, accountId }: BodyBounds): Promise<Buffer> {
    // The client left while its key was checked.
    if (request.destroyed && !request.readableEnded) throw incomplete()
    const account = accountId === undefined ? [] : [accountHolder(accountId)]
    const holders = [...clientHolders(client()), ...account]
    using held = new DisposableStack()
    held.defer(() => this.#events.bodyBytes(this.#bytes.count()))
    let reserved = 0
    const grow = (bytes: number) => {
      if (bytes <= reserved) return
      const wanted = Math.min(bytesMax, Math.max(bytes, 2 * reserved))
      const part = this.#bytes.take(wanted - reserved, holders)
      if (typeof part === 'string') throw this.#refusal(part)
      held.use(part)
      reserved = wanted
      this.#events.bodyBytes(this.#bytes.count())
    }
    const length = hasBody(request) ? Number(request.headers['content-length'] ?? Math.min(bytesMax, chunkedBytes)) : 0
    if (length <= bytesMax) grow(length)
    return await collect(request, bytesMax, grow)
  }

  #refusal(bound: ReachedBound): AppError {
    this.#events.bodyRefused(bound)
    const publicMessage = `Too many bytes of request bodies are being received from ${subjects[bound]}; try again.`
    const blame = bound === 'all' ? 'service' : 'caller'
    return new AppError('SERVICE_UNAVAILABLE', { publicMessage, retryAfterSeconds, blame })
  }
}
