import { createServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { toAppError } from '#shared/errors/app-error.ts'
import { joinSockets } from '#shared/net/join-sockets.ts'
import { targetsApplied, targetsHeader } from '#shared/net/targets-header.ts'
import { boundConnection, type End } from './connections/bound-connection.ts'
import { maySendPlainRequests } from './callers-proxy/request-http-tunnel.ts'
import { connectUpstream } from './connections/connect-upstream.ts'
import type { Egress } from './context.ts'
import { routeFields } from './telemetry/events.ts'
import { forwardRequest, headerBytesMax } from './forward-request.ts'
import { refuseTunnel } from './connections/refuse.ts'
import { readCapture, readProxy } from './connections/request-head.ts'
import { parseOrigin, type Route, parseAuthority } from './target/parse-target.ts'

/** Idle time-out once one end has half-closed. */
const halfOpenMs = 10_000

/**
 * Copies bytes both ways until both ends have closed. `upstream` has the idle time-out. Both sockets are destroyed when this
 * resolves; never throws.
 */
const splice = async (
  client: Socket,
  upstream: Socket,
  bytesMax: number,
): Promise<{ readonly end: End; readonly bytes: number }> => {
  const bounded = boundConnection(upstream, bytesMax)
  const halfOpen = () => upstream.setTimeout(Math.min(halfOpenMs, upstream.timeout ?? halfOpenMs))
  upstream.once('end', halfOpen)
  client.once('end', halfOpen)
  const joined = joinSockets(client, upstream)
  bounded.count(client)
  bounded.count(upstream)
  return bounded.summarize(!(await joined))
}

/**
 * Reads a client's bytes in the tunnel as plain requests, because the caller's HTTP proxy refused a tunnel to this target.
 * Whatever their heads name, the requests belong to this capture and go to this target through this proxy. A refused request
 * cuts the connection, so that no refusal is rendered as a page.
 */
const servePlain = (
  egress: Egress,
  client: Socket,
  { route, capture }: { readonly route: Route; readonly capture: string | undefined },
): void => {
  const server = createServer({ maxHeaderSize: headerBytesMax }, (request, response) => {
    const readRoute = () => ({ ...route, target: parseOrigin(request.url ?? '', route.target) })
    forwardRequest(egress, response, { capture, readRoute }).catch(() => client.destroy())
  })
  server.setTimeout(egress.bounds.idleMs)
  server.on('clientError', (cause) => {
    egress.events.unreadable(cause)
    client.destroy()
  })
  server.emit('connection', client)
}

/** Confirms that the account's lists, if the client named any, were applied: a client accepts no tunnel without it. */
const established = `HTTP/1.1 200 Connection established\r\n${targetsHeader}: ${targetsApplied}\r\n\r\n`

/** A client's CONNECT: its request, its socket, the bytes that it sent after the request, and the ports of this filter. */
export type TunnelRequest = Pick<Route, 'ownPorts'> & {
  readonly request: IncomingMessage
  readonly client: Socket
  readonly head: Buffer
}

/**
 * Serves one CONNECT: a tunnel to the checked target or through the caller's proxy, plain requests if that proxy refuses a tunnel,
 * or a refusal. Resolves when the tunnel has ended, plain requests can be served, or the refusal is written; never throws.
 */
export const connectTunnel = async (
  egress: Egress,
  { request, client, head, ownPorts }: TunnelRequest,
): Promise<void> => {
  const fields = { kind: 'tunnel', capture: readCapture(request) } as const
  let route: Route | undefined
  try {
    route = {
      target: parseAuthority(request.url ?? ''),
      proxy: readProxy(request),
      lists: egress.readLists(request),
      ownPorts,
    }
    const upstream = await connectUpstream(egress, route)
    egress.events.opened({ ...fields, ...routeFields(route) })
    client.write(established)
    client.unshift(head)
    const passed = await splice(client, upstream, egress.bounds.connectionBytesMax)
    egress.events.ended({ ...fields, ...routeFields(route) }, passed)
  } catch (thrown) {
    const error = toAppError(thrown)
    if (route && maySendPlainRequests(error.cause, route.target)) {
      client.write(established)
      client.unshift(head)
      servePlain(egress, client, { route, capture: fields.capture })
      return
    }
    egress.events.refused({ ...fields, ...routeFields(route) }, error)
    refuseTunnel(client, error)
  }
}
