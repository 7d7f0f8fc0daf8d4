import { type ClientRequest, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { succeeds } from '#shared/process/succeeds.ts'
import { type Bounded, boundConnection } from './connections/bound-connection.ts'
import { proxyAuthorization } from './callers-proxy/request-http-tunnel.ts'
import { connectProxy, connectUpstream } from './connections/connect-upstream.ts'
import type { Egress } from './context.ts'
import { endToEndHeaders } from './connections/end-to-end-headers.ts'
import { routeFields } from './telemetry/events.ts'
import type { PlainTarget, Route } from './target/parse-target.ts'

/** Most bytes of the headers of one message, either way. */
export const headerBytesMax = 65_536

/** Where a plain request goes. */
export type PlainRoute = Route & { readonly target: PlainTarget }

/** The capture and the route of a plain request; `readRoute` throws `BAD_REQUEST` if it cannot be served. */
export type PlainRequest = { readonly capture: string | undefined; readonly readRoute: () => PlainRoute }

/** One plain request in flight: its route, its upstream connection, and the connection's bounds. */
type Outgoing = { readonly route: PlainRoute; readonly upstream: Socket; readonly byteBound: Bounded }

/** An HTTP proxy gets the request itself, because many refuse tunnels to port 80. */
const open = (egress: Egress, { proxy, ...route }: PlainRoute): Promise<Socket> =>
  proxy?.kind === 'http' ? connectProxy(egress, { ...route, proxy }) : connectUpstream(egress, { ...route, proxy })

/** `Host` is taken from the request target, never from the client; a body without a length stays chunked. No keep-alive. */
const headersFor = (request: IncomingMessage, { hostHeader }: PlainTarget): string[] => {
  const chunked = request.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']
  return ['Host', hostHeader, ...endToEndHeaders(request.rawHeaders, ['host']), ...chunked, 'Connection', 'close']
}

/** Waits for the head of the response. Rejects if the target switches protocols, which is never requested. */
const awaitResponse = (outgoing: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
    outgoing.once('upgrade', (_incoming, socket) => {
      socket.destroy()
      reject(new Error('the target switched protocols'))
    })
  })

/** A request to an HTTP proxy has the absolute form, and the caller's credentials. */
const requestTarget = ({ target, proxy }: PlainRoute) =>
  proxy?.kind === 'http'
    ? { path: `http://${target.hostHeader}${target.path}`, credentials: proxyAuthorization(proxy) }
    : { path: target.path, credentials: [] }

/** Whether the response is an error of the HTTP proxy, not of the target. Only squid marks its own errors. */
const isProxyError = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 407 || headers['x-squid-error'] !== undefined

/** Sends the request and waits for the head of the response. Throws `TIMEOUT` or `CONNECTION_FAILED`. */
const send = async (request: IncomingMessage, { route, upstream, byteBound }: Outgoing): Promise<IncomingMessage> => {
  const { path, credentials } = requestTarget(route)
  try {
    const outgoing = openRequest({
      createConnection: () => upstream,
      method: request.method,
      path,
      headers: [...headersFor(request, route.target), ...credentials],
      maxHeaderSize: headerBytesMax,
    })
    // Once the response has begun, the target may stop reading the body; that is no error.
    outgoing.on('error', () => {})
    request.pipe(outgoing)
    byteBound.count(request)
    const incoming = await awaitResponse(outgoing)
    if (route.proxy?.kind !== 'http' || !isProxyError(incoming)) return incoming
    upstream.destroy()
    throw new AppError('CONNECTION_FAILED', { message: `the caller's proxy: the response is ${incoming.statusCode}` })
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('CONNECTION_FAILED', { message: 'the target did not respond in HTTP', cause })
  }
}

/** Writes the response to the client; resolves to whether it was interrupted. */
const respond = async (incoming: IncomingMessage, response: ServerResponse, byteBound: Bounded): Promise<boolean> => {
  response.sendDate = false
  // A client whose body was not read to its end cannot reuse its connection.
  const closing = response.req.complete ? [] : ['Connection', 'close']
  const { statusCode = 502, statusMessage, rawHeaders } = incoming
  response.writeHead(statusCode, statusMessage, [...endToEndHeaders(rawHeaders), ...closing])
  const carried = pipeline(incoming, response)
  byteBound.count(incoming)
  return !(await succeeds(carried))
}

/**
 * Serves one plain request on its own upstream connection. Resolves when the response has ended; throws an AppError with the
 * reason if there is none. Upgrades are not forwarded: browsers open tunnels for WebSockets.
 */
export const forwardRequest = async (
  egress: Egress,
  response: ServerResponse,
  { capture, readRoute }: PlainRequest,
): Promise<void> => {
  const { req: request } = response
  const fields = { kind: 'request', capture } as const
  let route: PlainRoute | undefined
  try {
    route = readRoute()
    const upstream = await open(egress, route)
    if (response.destroyed) upstream.destroy()
    else response.once('close', () => upstream.destroy())
    const byteBound = boundConnection(upstream, egress.bounds.connectionBytesMax)
    egress.events.opened({ ...fields, ...routeFields(route) })
    const incoming = await send(request, { route, upstream, byteBound })
    const isInterrupted = await respond(incoming, response, byteBound)
    egress.events.ended({ ...fields, ...routeFields(route) }, byteBound.summarize(isInterrupted))
  } catch (thrown) {
    const error = toAppError(thrown)
    egress.events.refused({ ...fields, ...routeFields(route) }, error)
    throw error
  }
}
