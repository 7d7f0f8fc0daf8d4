import { connect, isIPv6, type Socket } from 'node:net'
import type { HostPort } from '#shared/config/settings/worker.ts'
import { proxyHeader, proxyHeaderValue } from '#shared/net/callers-proxy.ts'
import { egressTokenHeader, egressTokenValue } from '#shared/net/egress-token.ts'
import { handshake } from '#shared/net/handshake.ts'
import { captureHeader, parseRefusal, type Refusal, refusalHeader } from '#shared/net/refusal.ts'

/** More than egress takes by its own bounds for the name, the connection and a caller's proxy together. */
const answerMs = 180_000

/** The way to egress: where it listens, and the token that it requires; '' where it requires none. */
export type EgressEndpoint = { readonly egress: HostPort; readonly egressToken: string }

/** The capture of the traffic, as egress gets it. */
export type TrafficOf = {
  readonly id: string
  /** The caller's proxy, as the caller wrote it; undefined where egress connects to pages itself. */
  readonly proxy: string | undefined
}

const headOf = (target: HostPort, token: string, { id, proxy }: TrafficOf): string => {
  const authority = `${isIPv6(target.host) ? `[${target.host}]` : target.host}:${target.port}`
  const lines = [
    `CONNECT ${authority} HTTP/1.1`,
    `Host: ${authority}`,
    `${captureHeader}: ${id}`,
    ...(token === '' ? [] : [`${egressTokenHeader}: ${egressTokenValue(token)}`]),
    ...(proxy === undefined ? [] : [`${proxyHeader}: ${proxyHeaderValue(proxy)}`]),
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

const refusalIn = (head: string): Refusal | undefined => {
  const name = `${refusalHeader}: `
  const line = head.split('\r\n').find((each) => each.startsWith(name))
  return parseRefusal(line?.slice(name.length))
}

/**
 * Requests a tunnel to `target` from egress: its socket, or why there is none, `unavailable` where egress does not answer
 * as it must. Never throws; gives up when `client` closes. `target.host` holds printable ASCII alone.
 */
export const requestTunnel = async (
  { egress, egressToken }: EgressEndpoint,
  of: TrafficOf,
  { target, client }: { readonly target: HostPort; readonly client: Socket },
): Promise<Socket | Refusal> => {
  const tunnel = connect({ ...egress, noDelay: true, allowHalfOpen: true })
  tunnel.on('error', () => {})
  const giveUp = () => tunnel.destroy()
  client.once('close', giveUp)
  try {
    const head = await handshake(tunnel, answerMs, ({ write, readHead }) => {
      write(headOf(target, egressToken, of))
      return readHead()
    })
    if (head.startsWith('HTTP/1.1 200 ')) return tunnel
    tunnel.destroy()
    return refusalIn(head) ?? 'unavailable'
  } catch {
    return 'unavailable'
  } finally {
    client.off('close', giveUp)
  }
}
