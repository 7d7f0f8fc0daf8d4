import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isId } from '#shared/db/is-id.ts'
import type { Scope } from '#shared/policy/scopes.ts'
import type { ActiveSession } from '#gateway/db/sessions.ts'
import { AppError } from '#shared/errors/app-error.ts'

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
  /** Reads the body, once. Throws `PAYLOAD_TOO_LARGE` above the bound, `BAD_REQUEST` if it is incomplete. */
  readonly readBody: () => Promise<Buffer>
  /** Watches the connection during a long wait: `signal` aborts when the client disconnects. */
  readonly watchClient: () => Disposable & { readonly signal: AbortSignal }
}

/** Largest body: a source of 500,000 characters, each with the longest escape. */
const bodyBytesMax = 7 * 1024 * 1024
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

/** A body above the bound is read and discarded up to this multiple, so that its sender receives the response. */
const discardFactor = 8

/** Reads a body. Throws `PAYLOAD_TOO_LARGE` above `bytesMax`, `BAD_REQUEST` if it is incomplete. */
const readBody = (request: IncomingMessage, bytesMax: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const refuseIncomplete = (cause?: unknown) =>
      reject(new AppError('BAD_REQUEST', { message: 'the body is incomplete', cause }))
    // The client left while its key was checked.
    if (request.destroyed && !request.readableEnded) return refuseIncomplete()
    const refuse = () =>
      reject(new AppError('PAYLOAD_TOO_LARGE', { publicMessage: `The body is larger than ${bytesMax} bytes.` }))
    if (Number(request.headers['content-length']) > bytesMax) refuse()
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= bytesMax) chunks.push(chunk)
      else refuse()
      if (bytes > bytesMax * discardFactor) request.destroy()
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', refuseIncomplete)
  })

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

/** Reads the head of a request without validating it. */
export const readExchange = (
  request: IncomingMessage,
  params: Readonly<Record<string, string>>,
  traceparent?: string,
): Exchange => {
  const { url = '', headers } = request
  const queryAt = url.indexOf('?')
  const query = queryAt < 0 ? '' : url.slice(queryAt + 1)
  let body: Promise<Buffer> | undefined
  return {
    requestId: requestIdOf(headers['x-request-id']),
    traceparent,
    peerAddress: request.socket.remoteAddress,
    headers,
    scopes: [],
    contentType: valuesOf('content-type', request)[0],
    query,
    params,
    headIsTooLarge: headBytes(request) > headBytesMax,
    inputIsSmall: inputIsSmall(request, query),
    readBody: () => (body ??= readBody(request, bodyBytesMax)),
    watchClient: () => watchClient(request),
  }
}

/** The id in the path parameter `name`, in lower case; if malformed, one that no record has. */
export const pathId = ({ params }: Pick<Exchange, 'params'>, name = 'id'): string => {
  const value = params[name] ?? ''
  return isId(value) ? value.toLowerCase() : unassignedId
}
