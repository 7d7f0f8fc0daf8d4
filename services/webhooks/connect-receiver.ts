import { once } from 'node:events'
import { type IncomingMessage, request as openRequest } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import type { HostPort } from '#shared/config/settings/worker.ts'
import { egressTokenHeaders } from '#shared/net/egress-token.ts'
import { connectEgress, type EgressAddress } from '#shared/net/egress-trust.ts'
import { parseRefusal, refusalHeader } from '#shared/net/refusal.ts'
import { formatAuthority } from '#shared/policy/host.ts'
import type { Failure } from '#shared/errors/delivery-failures.ts'
import { startSignalDeadline } from '#shared/config/stalls.ts'
import { NoConnection } from './outcome.ts'

/** How receivers are reached through egress. */
export type EgressRoute = {
  readonly egress: EgressAddress
  /** Token for egress; '' if egress requires none. */
  readonly egressToken: string
  /** Trusted authorities for receivers' certificates; undefined: the public ones. */
  readonly trust: SecureContext | undefined
  /** Longest wait for a connection, TLS handshake included. */
  readonly connectMs: number
}

const classifyFailure = ({ headers }: IncomingMessage): Failure | 'not_tried' => {
  const refusal = parseRefusal(headers[refusalHeader]?.toString())
  if (refusal === undefined || refusal === 'unavailable' || refusal === 'overloaded') return 'not_tried'
  return refusal === 'dns_failed' || refusal === 'connection_failed' ? refusal : 'blocked'
}

const openTunnel = async ({ egress, egressToken }: EgressRoute, to: HostPort, signal: AbortSignal): Promise<Socket> => {
  const authority = formatAuthority(to)
  const connection = connectEgress(egress)
  let isConnected = false
  connection.once('trust' in egress && egress.trust ? 'secureConnect' : 'connect', () => {
    isConnected = true
  })
  const request = openRequest({
    createConnection: () => connection,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...egressTokenHeaders(egressToken) },
    signal,
  })
  request.end()
  let answer: [IncomingMessage, Socket, Buffer]
  try {
    answer = (await once(request, 'connect')) as [IncomingMessage, Socket, Buffer]
  } catch (cause) {
    throw new NoConnection(signal.aborted && isConnected ? 'timeout' : 'not_tried', cause)
  }
  const [response, socket, head] = answer
  socket.on('error', () => {})
  if (response.statusCode === 200) {
    socket.unshift(head)
    return socket
  }
  socket.destroy()
  throw new NoConnection(classifyFailure(response))
}

/** Distinguishes an invalid certificate from a broken connection. */
const tlsFailure = (cause: unknown): Failure =>
  /^(ECONNRESET|EPIPE)$/.test((cause as NodeJS.ErrnoException).code ?? '') ? 'connection_failed' : 'tls_failed'

/**
 * Opens a connection to a receiver: through the egress filter, which resolves, checks and dials, then TLS to the requested
 * name. Throws `NoConnection` with the reason.
 */
export const connectReceiver = async (route: EgressRoute, to: HostPort): Promise<TLSSocket> => {
  using deadline = startSignalDeadline(route.connectMs)
  const { signal } = deadline
  const tunnel = await openTunnel(route, to, signal)
  const socket = connectTls({
    socket: tunnel,
    host: to.host,
    ...(isIP(to.host) === 0 && { servername: to.host }),
    ...(route.trust && { secureContext: route.trust }),
    ALPNProtocols: ['http/1.1'],
  })
  socket.on('error', () => {})
  try {
    await once(socket, 'secureConnect', { signal })
    return socket
  } catch (cause) {
    socket.destroy()
    tunnel.destroy()
    throw new NoConnection(signal.aborted ? 'timeout' : tlsFailure(cause), cause)
  }
}
