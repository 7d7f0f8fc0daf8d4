import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { serverBounds } from '#shared/config/server-bounds.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { watchAuthority } from '#shared/net/watch-egress.ts'
import { connectTunnel } from './connect-tunnel.ts'
import type { Egress } from './context.ts'
import { forwardRequest, headerBytesMax } from './forward-request.ts'
import { Overloaded, refuseRequest, refuseTunnel } from './connections/refuse.ts'
import { readProxy, readCapture } from './connections/request-head.ts'
import { Unidentified } from './connections/unidentified.ts'
import { parseAbsolute } from './target/parse-target.ts'
import { createWatches } from './watches.ts'

/** Longest time in which a client sends the head of a request, and the whole request. */
const headMs = 10_000
const requestMs = 300_000
/** This many clients above `connectionsMax` get a 503; more are disconnected. */
const refusedMax = 256

const options = {
  maxHeaderSize: headerBytesMax,
  headersTimeout: headMs,
  requestTimeout: requestMs,
  keepAliveTimeout: serverBounds.keepAliveTimeout,
  connectionsCheckingInterval: serverBounds.connectionsCheckingInterval,
}

/** A client may disconnect at any time; 'close' follows. */
const ignoreErrors = (client: Duplex) => void client.on('error', () => {})

const refuseUnreadable = (client: Duplex, { message }: Error) => {
  // Without a response the client would assume a failure of this filter, and retry what can never be served.
  if (client.writable) refuseTunnel(client, new AppError('BAD_REQUEST', { message }))
  else client.destroy()
}

const unauthorized = () => new AppError('CONFIGURATION', { message: 'no valid egress token' })

/** The ports on which servers listen. */
const portsOf = (...servers: readonly Server[]): number[] =>
  servers.map((each) => (each.address() as AddressInfo | null)?.port ?? 0)

/** Serves a plain request in absolute form, which workers from before SOCKS5 send (ADR 25). */
const serveAbsolute = (egress: Egress, response: ServerResponse, ownPorts: readonly number[]): void => {
  const { req: request } = response
  const readRoute = () => ({
    target: parseAbsolute(request.url ?? ''),
    proxy: readProxy(request),
    lists: egress.readLists(request),
    ownPorts,
  })
  forwardRequest(egress, response, { capture: readCapture(request), readRoute }).catch((error: unknown) => {
    refuseRequest(response, toAppError(error))
  })
}

type Draining = {
  readonly servers: readonly Server[]
  readonly watches: Pick<ReturnType<typeof createWatches>, 'end'>
  readonly open: ReadonlySet<Socket>
}

const endServers = async ({ servers, watches, open }: Draining, waitMs: number): Promise<void> => {
  const listening = servers.filter((each) => each.listening)
  const closed = listening.map((each) => once(each, 'close'))
  for (const each of listening) each.close()
  watches.end()
  const cut = setTimeout(() => {
    for (const client of open) client.destroy()
  }, waitMs)
  await Promise.all(closed)
  clearTimeout(cut)
}

/** Creates the filtering forward proxy, whose two servers do not listen yet. Each CONNECT or absolute-form request gets its own upstream connection. */
export const createApp = (egress: Egress & { readonly connectionsMax: number }) => {
  const { events } = egress
  const open = new Set<Socket>()
  const watches = createWatches()
  const unidentified = new Unidentified(egress.connectionsMax + refusedMax)
  const isFull = () => open.size - watches.count() > egress.connectionsMax
  const overload = () => {
    events.overloaded(open.size)
    return new Overloaded()
  }
  const accept = (client: Socket) => {
    if (!unidentified.add(client)) {
      overload()
      return void client.destroy()
    }
    open.add(client)
    events.clientConnected()
    ignoreErrors(client)
    client.once('close', () => {
      open.delete(client)
      events.clientGone()
    })
  }
  const isIdentified = (request: IncomingMessage, client: Socket) => {
    const isAuthorized = egress.isAuthorized(request)
    if (isAuthorized) unidentified.remove(client)
    else events.unauthorized()
    return isAuthorized
  }
  const serveConnect = (request: IncomingMessage, client: Duplex, head: Buffer) => {
    if (!isIdentified(request, client as Socket)) refuseTunnel(client, unauthorized())
    else if (request.url === watchAuthority) watches.add(client as Socket)
    else if (isFull()) refuseTunnel(client, overload())
    else void connectTunnel(egress, { request, client: client as Socket, head, ownPorts: portsOf(server, tlsServer) })
  }
  const serveRequest = (request: IncomingMessage, response: ServerResponse) => {
    // Without a socket the response would wait for an earlier one: pipelined requests are not served.
    if (response.socket === null) request.socket.destroy()
    else if (!isIdentified(request, request.socket)) refuseRequest(response, unauthorized())
    else if (isFull()) refuseRequest(response, overload())
    else serveAbsolute(egress, response, portsOf(server, tlsServer))
  }
  const serve = <S extends Server>(server: S): S => {
    watches.bound(server, egress.connectionsMax + refusedMax)
    server.on('connection', accept)
    server.on('drop', () => events.overloaded(open.size))
    server.on('connect', serveConnect)
    server.on('request', serveRequest)
    server.on('clientError', (cause, client) => {
      events.unreadable(cause)
      refuseUnreadable(client, cause)
    })
    return server
  }
  const server = serve(createServer(options))
  const tlsServer = serve(createTlsServer({ ...options, allowHalfOpen: true, handshakeTimeout: headMs }))
  tlsServer.on('secureConnection', ignoreErrors)
  return {
    /** For clients without TLS. */
    server,
    /** For clients with TLS; it has no certificate yet. */
    tlsServer,
    /** Accepts no more clients, ends watches, waits at most `waitMs` for open connections to end, then cuts them. */
    drain: (waitMs: number): Promise<void> => {
      events.draining(open.size)
      return endServers({ servers: [server, tlsServer], watches, open }, waitMs)
    },
  }
}
