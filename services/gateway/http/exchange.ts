import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isId } from '#shared/db/is-id.ts'
import type { Client } from '#shared/policy/client.ts'
import type { Scope } from '#shared/policy/scopes.ts'
import type { ActiveSession } from '#gateway/db/sessions.ts'
import type { Bodies } from './bodies.ts'
import { plainBodyBytes } from './body-bound.ts'

/** One request, not validated. */
export type Exchange = {
  readonly requestId: string
  /** See `Span`. */
  readonly traceparent: string | undefined
  /** Address of the connection's peer: the client, or a proxy in front of the gateway. */
  readonly peerAddress: string | undefined
  readonly headers: IncomingHttpHeaders
  /** The console's session that identifies the request, already admitted; undefined: it is identified by a key, if at all. */
  readonly session?: ActiveSession | undefined
  /** The scopes of which the operation requires one of a key; until it is known, none is enough. */
  readonly scopes: readonly Scope[]
  readonly contentType: string | undefined
  /** The query without its question mark, undecoded. */
  readonly query: string
  /** Named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** Whether request line and headers together are larger than the contract allows. */
  readonly headIsTooLarge: boolean
  /** Whether query and body, by `Content-Length`, are small enough to be read before the key is checked. */
  readonly inputIsSmall: boolean
  /**
   * Reads the body, once, on account of the caller if it is identified. Throws `PAYLOAD_TOO_LARGE` above the operation's bound,
   * `BAD_REQUEST` if it is incomplete, `SERVICE_UNAVAILABLE` if too much is being received.
   */
  readonly readBody: (accountId?: string) => Promise<Buffer>
  /** Watches the connection during a long wait: `signal` aborts when the client disconnects. */
  readonly watchClient: () => Disposable & { readonly signal: AbortSignal }
}

/** Largest query and largest body that are read before the key is checked: processing them takes milliseconds. */
const smallBytes = 16 * 1024
/** Largest request line and headers together. */
const headBytesMax = 64 * 1024
/** An id that no record has: malformed ids take the same code path and time as unknown ones. */
const unassignedId = '00000000-0000-0000-0000-000000000000'

/** The caller's request id if it consists of 1 to 64 token characters, else a new one. */
const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/.test(header) ? header : randomUUID()

/** Size of the head on the wire, assuming one space after each colon. */
const headBytes = ({ method = '', url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((sum, part) => sum + part.length + 2, `${method} ${url} HTTP/1.1\r\n\r\n`.length)

/** The values of a header as sent; `headers` has one of several, and its content type is overwritten by the `onRequest` hook. */
const valuesOf = (name: string, { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): readonly string[] =>
  rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)

/** What is wrong with the `Host` header (RFC 9112 §3.2); undefined: nothing. Of several, a proxy may have read another one. */
export const hostProblem = (request: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>): string | undefined => {
  const { length } = valuesOf('host', request)
  if (length > 1) return 'The Host header is repeated: send it once.'
  return request.httpVersion === '1.1' && length === 0 ? 'The Host header is missing.' : undefined
}

/** A chunked body has no known length, so it is not small; without `Content-Length` and chunks a body is empty. */
const inputIsSmall = ({ headers }: IncomingMessage, query: string): boolean =>
  query.length <= smallBytes &&
  headers['transfer-encoding'] === undefined &&
  Number(headers['content-length'] ?? 0) <= smallBytes

const watchClient = ({ socket }: IncomingMessage): Disposable & { signal: AbortSignal } => {
  const gone = new AbortController()
  const leave = () => gone.abort()
  if (socket.destroyed) leave()
  else socket.once('close', leave)
  return { signal: gone.signal, [Symbol.dispose]: () => socket.off('close', leave) }
}

/** What reading a request uses. */
export type ExchangeDependencies = {
  readonly bodies: Pick<Bodies, 'read'>
  readonly clients: { readonly find: (sender: Pick<Exchange, 'peerAddress' | 'headers'>) => Client }
}

/** The operation's part of a request: its path parameters, and the bound of its body in bytes, 64 KiB by default. */
type Matched = {
  readonly params?: Readonly<Record<string, string>>
  readonly bodyBytesMax?: number | undefined
  readonly traceparent?: string | undefined
}

/** Reads the head of a request without validating it. */
export const readExchange = (
  { bodies, clients }: ExchangeDependencies,
  request: IncomingMessage,
  { params = {}, bodyBytesMax: bytesMax = plainBodyBytes, traceparent }: Matched = {},
): Exchange => {
  const { url = '', headers } = request
  const queryAt = url.indexOf('?')
  const query = queryAt < 0 ? '' : url.slice(queryAt + 1)
  const peerAddress = request.socket.remoteAddress
  const client = () => clients.find({ peerAddress, headers })
  let body: Promise<Buffer> | undefined
  return {
    requestId: requestIdOf(headers['x-request-id']),
    traceparent,
    peerAddress,
    headers,
    scopes: [],
    contentType: valuesOf('content-type', request)[0],
    query,
    params,
    headIsTooLarge: headBytes(request) > headBytesMax,
    inputIsSmall: inputIsSmall(request, query),
    readBody: (accountId) => (body ??= bodies.read(request, { bytesMax, client, accountId })),
    watchClient: () => watchClient(request),
  }
}

/** A request whose caller is identified: its body counts for the account too. */
export const ofAccount = (exchange: Exchange, accountId: string): Exchange => ({
  ...exchange,
  readBody: () => exchange.readBody(accountId),
})

/** The id in the path parameter `name`, in lower case; if malformed, one that no record has. */
export const pathId = ({ params }: Pick<Exchange, 'params'>, name = 'id'): string => {
  const value = params[name] ?? ''
  return isId(value) ? value.toLowerCase() : unassignedId
}
