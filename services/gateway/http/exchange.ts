import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isId } from '#shared/db/is-id.ts'
import { AppError } from '#shared/errors/app-error.ts'

/** One request as it came. */
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
}

/** Largest body: a 500,000-character source, escaped to the utmost. */
const bodyBytesMax = 7 * 1024 * 1024
/** Largest query and largest body that are read before the key is known: what is made of them takes milliseconds. */
const smallBytes = 16 * 1024
/** Largest request line and headers together. */
const headBytesMax = 64 * 1024
/** An id that nothing has: malformed ids take the same way and the same time as unknown ones. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** The caller's own request id where it is at most 64 token characters, else a new one. */
const requestIdOf = (given: string | string[] | undefined): string =>
  typeof given === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/.test(given) ? given : randomUUID()

/** As it came over the wire, with one space behind each colon. */
const headBytes = ({ method = '', url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((sum, part) => sum + part.length + 2, `${method} ${url} HTTP/1.1\r\n\r\n`.length)

/** The first `Content-Type` as it was sent; `headers` no longer has it. */
const contentTypeOf = ({ rawHeaders }: IncomingMessage): string | undefined => {
  const at = rawHeaders.findIndex((part, index) => index % 2 === 0 && part.toLowerCase() === 'content-type')
  return at < 0 ? undefined : rawHeaders[at + 1]
}

/** What is read and thrown away of a body that is too large, so that its sender gets to see the answer. */
const discardFactor = 8

/** Reads a body of at most `bytesMax`. Throws `PAYLOAD_TOO_LARGE` beyond it, `BAD_REQUEST` where the body breaks off. */
const readBody = (request: IncomingMessage, bytesMax: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
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
    request.on('error', (cause) => reject(new AppError('BAD_REQUEST', { message: 'the body broke off', cause })))
  })

/** A body without a length is read in chunks that have no end in sight; one with neither is empty. */
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

/** Reads the head of a request. Nothing is judged yet. */
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
    contentType: contentTypeOf(request),
    query,
    params,
    headIsTooLarge: headBytes(request) > headBytesMax,
    inputIsSmall: inputIsSmall(request, query),
    readBody: () => (body ??= readBody(request, bodyBytesMax)),
    watchClient: () => watchClient(request),
  }
}

/** The id that stands in the path under `name`, in lower case. */
export const pathId = ({ params }: Pick<Exchange, 'params'>, name = 'id'): string => {
  const given = params[name] ?? ''
  return isId(given) ? given.toLowerCase() : nobody
}
