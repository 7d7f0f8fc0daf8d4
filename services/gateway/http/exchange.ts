import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Caller } from '#shared/db/accept-capture.ts'
import type { ErrorCode } from '#shared/errors/catalog.ts'

/** One request on its way through an operation. */
export type Exchange = {
  readonly requestId: string
  /** See `Span`. */
  readonly traceparent: string | undefined
  /** Address at the other end of the connection: the client's, or that of a proxy in front of the gateway. */
  readonly peerAddress: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly contentType: string | undefined
  /** What follows the question mark, undecoded. */
  readonly query: string
  /** Named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** Whether request line and headers together are larger than the contract allows. */
  readonly headIsTooLarge: boolean
  /** Whether query and body, by its announced length, are small: then they cost little to read before the key is known. */
  readonly inputIsSmall: boolean
  /** The body, which is read with the first call. Throws `PAYLOAD_TOO_LARGE` beyond the bound, `BAD_REQUEST` where it breaks off. */
  readonly readBody: () => Promise<Buffer>
  /** Follows the connection for an answer that comes late: `signal` aborts once the client has gone away. */
  readonly watchClient: () => Disposable & { readonly signal: AbortSignal }
  /** Set as soon as the database has said who calls; every answer from then on carries the account's limits. */
  caller: Caller | undefined
  /** The capture that this request was accepted as, or may have been where the database did not answer. */
  screenshotId: string | undefined
  /** Set where the same request was accepted before: the answer says so. */
  isReplay: boolean
}

/** What an operation answers. Objects are sent as JSON, Buffers and streams as they are. */
export type Answer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>> | Buffer | Readable
  /** Code of the error that the body tells of, for metrics and traces. */
  readonly code?: ErrorCode
}
