import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Dispatcher } from 'undici'
import type { Cell } from '#shared/config/settings/router.ts'
import { hasBody } from '#gateway/http/bodies.ts'
import type { AccountAwayError } from './cell-directory.ts'
import { pathOf } from './credential.ts'
import { requestCell } from './request-cell.ts'

/** Headers of one connection, which are not forwarded (RFC 9110 §7.6.1); `expect` was answered by this server. */
const hopHeaders = new Set(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade expect'.split(' '),
)

/** Replaced: a cell is asked under its own name, by which its certificate is checked and an ingress before it routes. */
const ownHeaders = new Set(['host', 'x-forwarded-for'])

/** Those that `Connection` names are of the connection too. */
const hopHeadersOf = ({ connection }: IncomingHttpHeaders): ReadonlySet<string> =>
  connection === undefined ? hopHeaders : new Set([...hopHeaders, ...connection.toLowerCase().split(/[\s,]+/)])

/** Changes the value of a header, or leaves it out. */
type ReviseHeader = (name: string, value: string) => string | undefined

/** The headers as sent and revised, but for `Host` and those of the connection, with the client's address at the end of `X-Forwarded-For`. */
const requestHeaders = ({ rawHeaders, headers, socket }: IncomingMessage, revise: ReviseHeader): string[] => {
  const forwarded = headers['x-forwarded-for']
  const hops = forwarded === undefined ? [] : [forwarded].flat()
  const ofConnection = hopHeadersOf(headers)
  const sent: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]]
    const lower = name.toLowerCase()
    if (ownHeaders.has(lower) || ofConnection.has(lower)) continue
    const revised = revise(lower, value)
    if (revised !== undefined) sent.push(name, revised)
  }
  return [...sent, 'X-Forwarded-For', [...hops, socket.remoteAddress ?? 'unknown'].join(', ')]
}

const responseHeaders = (headers: IncomingHttpHeaders): IncomingHttpHeaders => {
  const ofConnection = hopHeadersOf(headers)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)))
}

/** A request, and where its response goes. */
export type Http = { readonly request: IncomingMessage; readonly response: ServerResponse }

/** The status of the response, undefined if the client disconnected first; or the cell that has the account. */
type Forwarded = { readonly status: number | undefined; readonly moved?: never } | { readonly moved: Elsewhere }

/** Another cell; or why none is known now. */
export type Elsewhere = Cell | AccountAwayError

/** `body` replaces one that was read, `adapt` returns the headers of the response, `revise` those of the request. */
export type ForwardedHttp = Http & {
  readonly body?: Buffer
  readonly adapt?: ((cell: Cell, headers: IncomingHttpHeaders) => IncomingHttpHeaders) | undefined
  readonly revise: (cell: Cell, ...header: Parameters<ReviseHeader>) => string | undefined
}

/** The synchronous capture: a gateway that closed the connection may have accepted it, and another try would be charged again. */
const acceptingPath = /^\/(?:api\/)?v1\/screenshots\/capture$/

const isRepeatable = ({ method, url = '' }: IncomingMessage, body: unknown): boolean =>
  body === null && (method === 'GET' || method === 'HEAD') && !acceptingPath.test(pathOf(url))

/**
 * Forwards a request to a gateway of the cell and its response to the client, both as they arrive. Without a response, if `elsewhere`
 * returns something for its status.
 * Throws if no response has begun, and cuts the response if it ends halfway.
 */
export const forward = async (
  agent: Dispatcher,
  cell: Cell,
  { request, response, body, adapt, revise }: ForwardedHttp,
  elsewhere: (status: number) => Promise<Elsewhere | undefined>,
): Promise<Forwarded> => {
  if (response.destroyed) return { status: undefined }
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const sent = body ?? (hasBody(request) ? request : null)
  const options = {
    origin: cell.url,
    path: request.url ?? '/',
    method: request.method as Dispatcher.HttpMethod,
    headers: requestHeaders(request, (name, value) => revise(cell, name, value)),
    body: sent,
    signal: gone.signal,
  }
  try {
    const { statusCode, headers, body: received } = await requestCell(agent, options, isRepeatable(request, sent))
    const moved = await elsewhere(statusCode)
    if (moved) {
      await received.dump()
      return { moved }
    }
    const own = responseHeaders(headers)
    response.writeHead(statusCode, adapt?.(cell, own) ?? own)
    // An event stream may be silent for long.
    if (headers['content-length'] === undefined) response.flushHeaders()
    await pipeline(received, response)
    return { status: statusCode }
  } catch (error) {
    if (gone.signal.aborted) return { status: undefined }
    if (!response.headersSent) throw error
    response.destroy()
    return { status: response.statusCode }
  }
}
