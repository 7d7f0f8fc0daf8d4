import type { Socket } from 'node:net'
import type { HostPort } from '#shared/config/settings/worker.ts'
import { proxyHeader, proxyHeaderValue } from '#shared/net/callers-proxy.ts'
import { egressTokenHeaders } from '#shared/net/egress-token.ts'
import { connectEgress, type EgressAddress } from '#shared/net/egress-trust.ts'
import { handshake } from '#shared/net/handshake.ts'
import { captureHeader, parseRefusal, type Refusal, refusalHeader } from '#shared/net/refusal.ts'
import { targetsApplied, targetsHeader, targetsHeaderValue } from '#shared/net/targets-header.ts'
import { formatAuthority } from '#shared/policy/host.ts'
import type { TargetTexts } from '#shared/policy/target-lists.ts'

/** Longer than the sum of egress's own bounds on DNS, the connection and a caller's proxy. */
const responseMs = 180_000

/** The address of egress and the token that it requires; '' for none. */
export type EgressEndpoint = { readonly egress: EgressAddress; readonly egressToken: string }

/** The capture of a connection, sent to egress in headers. */
export type EgressCapture = {
  readonly id: string
  /** The caller's proxy, as the caller wrote it; undefined if egress connects to pages directly. */
  readonly proxy: string | undefined
  /** The lists of targets of its account; undefined if they are empty. */
  readonly targets: TargetTexts | undefined
}

const renderHead = (target: HostPort, token: string, { id, proxy, targets }: EgressCapture): string => {
  const authority = formatAuthority(target)
  const lines = [
    `CONNECT ${authority} HTTP/1.1`,
    `Host: ${authority}`,
    `${captureHeader}: ${id}`,
    ...Object.entries(egressTokenHeaders(token)).map((pair) => pair.join(': ')),
    ...(proxy === undefined ? [] : [`${proxyHeader}: ${proxyHeaderValue(proxy)}`]),
    ...(targets === undefined ? [] : [`${targetsHeader}: ${targetsHeaderValue(targets)}`]),
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

const headerIn = (head: string, name: string): string | undefined => {
  const start = `${name}: `
  const line = head.split('\r\n').find((each) => each.startsWith(start))
  return line?.slice(start.length)
}

/** An egress that does not know lists of targets would reach what they refuse. */
const isApplied = (head: string, { targets }: EgressCapture): boolean =>
  targets === undefined || headerIn(head, targetsHeader) === targetsApplied

/**
 * Requests a tunnel to `target` from egress. Resolves to its socket or to the refusal, `unavailable` if egress does not
 * respond as specified, or does not confirm that it applied the account's lists. Never throws; gives up when `client` closes. `target.host` must be printable ASCII.
 */
export const requestTunnel = async (
  { egress, egressToken }: EgressEndpoint,
  capture: EgressCapture,
  { target, client }: { readonly target: HostPort; readonly client: Socket },
): Promise<Socket | Refusal> => {
  const tunnel = connectEgress(egress)
  tunnel.on('error', () => {})
  const giveUp = () => tunnel.destroy()
  client.once('close', giveUp)
  try {
    const head = await handshake(tunnel, responseMs, ({ write, readHead }) => {
      write(renderHead(target, egressToken, capture))
      return readHead()
    })
    if (head.startsWith('HTTP/1.1 200 ') && isApplied(head, capture)) return tunnel
    tunnel.destroy()
    return parseRefusal(headerIn(head, refusalHeader)) ?? 'unavailable'
  } catch {
    return 'unavailable'
  } finally {
    client.off('close', giveUp)
  }
}
