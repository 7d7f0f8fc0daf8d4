import type { IncomingMessage } from 'node:http'
import { type Span, startTrace } from '#shared/telemetry/trace.ts'
import type { Answer, Exchange } from './exchange.ts'
import { readBody } from './read-body.ts'
import { requestIdOf } from './request-id.ts'

/** Largest body: a 500,000-character source, escaped to the utmost. */
const bodyBytesMax = 7 * 1024 * 1024
/** Largest query and largest body that are read before the key is known: what is made of them takes milliseconds. */
const smallBytes = 16 * 1024
/** Largest request line and headers together. */
const headBytesMax = 64 * 1024

const first = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header

/** As it came over the wire, with one space behind each colon. */
const headBytes = ({ method = '', url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((sum, part) => sum + part.length + 2, `${method} ${url} HTTP/1.1\r\n\r\n`.length)

/** The first `Content-Type` as it was sent; `headers` no longer has it. */
const contentTypeOf = ({ rawHeaders }: IncomingMessage): string | undefined => {
  const at = rawHeaders.findIndex((part, index) => index % 2 === 0 && part.toLowerCase() === 'content-type')
  return at < 0 ? undefined : rawHeaders[at + 1]
}

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

/** Puts together what `operation` sees of a request, and begins its span. Nothing is judged yet. */
export const readExchange = (
  operation: string,
  request: IncomingMessage,
  params: Readonly<Record<string, string>>,
): { exchange: Exchange; span: Span } => {
  const span = startTrace({
    name: `http ${operation}`,
    traceparent: first(request.headers['traceparent']),
    kind: 'SERVER',
    attributes: { 'http.request.method': request.method ?? '' },
  })
  const { url = '', headers } = request
  const queryAt = url.indexOf('?')
  const query = queryAt < 0 ? '' : url.slice(queryAt + 1)
  let body: Promise<Buffer> | undefined
  const exchange: Exchange = {
    requestId: requestIdOf(headers['x-request-id']),
    traceparent: span.traceparent,
    peerAddress: request.socket.remoteAddress,
    headers,
    contentType: contentTypeOf(request),
    query,
    params,
    headIsTooLarge: headBytes(request) > headBytesMax,
    inputIsSmall: inputIsSmall(request, query),
    readBody: () => (body ??= readBody(request, bodyBytesMax)),
    watchClient: () => watchClient(request),
    caller: undefined,
    screenshotId: undefined,
    isReplay: false,
  }
  return { exchange, span }
}

/** Ends a request's span. Only a fault of ours is an error of the service (OpenTelemetry's conventions for HTTP servers). */
export const endSpan = (span: Span, { screenshotId }: Exchange, { status, code }: Answer): void =>
  span.end({
    error: status >= 500 ? (code ?? 'SERVER_ERROR') : undefined,
    attributes: {
      'http.response.status_code': status,
      ...(code !== undefined && { 'error.type': code }),
      ...(screenshotId !== undefined && { 'shutterfleet.capture.id': screenshotId }),
    },
  })
