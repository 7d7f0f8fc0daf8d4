import type { IncomingMessage } from 'node:http'
import { AppError } from '#shared/errors/app-error.ts'
import type { Client } from '#shared/policy/client.ts'
import { accountHolder, clientHolders, type ReachedBound, Shares } from '#shared/policy/shares.ts'

/** Bytes of bodies that one process receives at a time; a client or account gets a quarter, three of the largest bodies. */
const receivedBytesMax = 96 * 1024 * 1024
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
  /** Bytes that are set aside for the bodies that are being received: their length, or their bound if that is not known. */
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

/** Collects a body. Throws `PAYLOAD_TOO_LARGE` above `bytesMax`, `BAD_REQUEST` if it is incomplete. */
const collect = (request: IncomingMessage, bytesMax: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let bytes = 0
    const refuse = () => {
      chunks = []
      reject(tooLarge(bytesMax))
    }
    if (Number(request.headers['content-length']) > bytesMax) refuse()
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= bytesMax) chunks.push(chunk)
      else refuse()
      if (bytes > discardedBytesMax) request.destroy()
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
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
   * Reads a body. Throws `PAYLOAD_TOO_LARGE` above its bound, `BAD_REQUEST` if it is incomplete, and `SERVICE_UNAVAILABLE`
   * before reading it if its client, its account or all together send too much at a time.
   */
  async read(request: IncomingMessage, { bytesMax, client, accountId }: BodyBounds): Promise<Buffer> {
    // The client left while its key was checked.
    if (request.destroyed && !request.readableEnded) throw incomplete()
    if (!hasBody(request)) return collect(request, bytesMax)
    const length = Number(request.headers['content-length'] ?? bytesMax)
    const account = accountId === undefined ? [] : [accountHolder(accountId)]
    const held = this.#bytes.take(length > bytesMax ? 0 : length, [...clientHolders(client()), ...account])
    if (typeof held === 'string') throw this.#refusal(held)
    this.#events.bodyBytes(this.#bytes.count())
    try {
      return await collect(request, bytesMax)
    } finally {
      held[Symbol.dispose]()
      this.#events.bodyBytes(this.#bytes.count())
    }
  }

  #refusal(bound: ReachedBound): AppError {
    this.#events.bodyRefused(bound)
    const publicMessage = `Too many bytes of request bodies are being received from ${subjects[bound]}; try again.`
    const blame = bound === 'all' ? 'service' : 'caller'
    return new AppError('SERVICE_UNAVAILABLE', { publicMessage, retryAfterSeconds, blame })
  }
}
