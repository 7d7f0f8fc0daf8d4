import { once } from 'node:events'
import { type IncomingMessage, request as openRequest } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import type { HostPort } from '#shared/config/settings/worker.ts'
import { egressTokenHeader, egressTokenValue } from '#shared/net/egress-token.ts'
import { parseRefusal, refusalHeader } from '#shared/net/refusal.ts'
import type { Failure } from '#shared/errors/delivery-failures.ts'
import { NoConnection } from './outcome.ts'

/** The way to receivers. */
export type Way = {
  readonly egress: HostPort
  /** Token that egress asks for; '' where it asks for none. */
  readonly egressToken: string
  /** What receivers' certificates are checked against; undefined: the public authorities. */
  readonly trust: SecureContext | undefined
  /** Longest wait for a connection, its certificate included. */
  readonly connectMs: number
}

const failureOf = ({ headers }: IncomingMessage): Failure | 'not_tried' => {
  const refusal = parseRefusal(headers[refusalHeader]?.toString())
  if (refusal === undefined || refusal === 'unavailable' || refusal === 'overloaded') return 'not_tried'
  return refusal === 'bad_request' ? 'blocked' : refusal
}

const askEgress = async (
  { egress, egressToken }: Way,
  { host, port }: HostPort,
  signal: AbortSignal,
): Promise<Socket> => {
  const authority = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
  const asked = openRequest({
    ...egress,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...(egressToken && { [egressTokenHeader]: egressTokenValue(egressToken) }) },
    agent: false,
    signal,
  })
  asked.end()
  let answer: [IncomingMessage, Socket, Buffer]
  try {
    answer = (await once(asked, 'connect')) as [IncomingMessage, Socket, Buffer]
  } catch (cause) {
    throw new NoConnection(signal.aborted ? 'timeout' : 'not_tried', cause)
  }
  const [response, socket, head] = answer
  socket.on('error', () => {})
  if (response.statusCode === 200) {
    socket.unshift(head)
    return socket
  }
  socket.destroy()
  throw new NoConnection(failureOf(response))
}

/** An invalid certificate is reported apart from a broken connection. */
const tlsFailure = (cause: unknown): Failure =>
  /^(ECONNRESET|EPIPE)$/.test((cause as NodeJS.ErrnoException).code ?? '') ? 'connection_failed' : 'tls_failed'

/**
 * Opens a connection to a receiver: through the egress filter, which resolves, judges and dials, then TLS to the name
 * that was asked for. Throws `NoConnection` with the reason.
 */
export const connectReceiver = async (way: Way, to: HostPort): Promise<TLSSocket> => {
  const signal = AbortSignal.timeout(way.connectMs)
  const tunnel = await askEgress(way, to, signal)
  const socket = connectTls({
    socket: tunnel,
    host: to.host,
    ...(isIP(to.host) === 0 && { servername: to.host }),
    ...(way.trust && { secureContext: way.trust }),
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
