import type { Target } from '#egress/target/parse-target.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { CallersProxy } from '#shared/net/callers-proxy.ts'
import type { Line } from '#shared/net/handshake.ts'
import { formatAuthority } from '#shared/policy/host.ts'

/** Name and value of the header with a proxy's credentials (RFC 7617, UTF-8); empty if there are none. */
export const proxyAuthorization = ({ credentials }: Pick<CallersProxy, 'credentials'>): readonly string[] => {
  if (credentials === undefined) return []
  const pair = Buffer.from(`${credentials.user}:${credentials.password}`)
  return ['Proxy-Authorization', `Basic ${pair.toString('base64')}`]
}

const failed = (message: string) => new AppError('CONNECTION_FAILED', { message })

/** The proxy refused a tunnel to this target. */
export class TunnelRefused extends AppError {
  /** Status of its response. */
  readonly status: number
  constructor(status: number) {
    super('CONNECTION_FAILED', { message: `the response to CONNECT is ${status}` })
    this.status = status
  }
}

/** Whether plain requests may succeed where the tunnel failed: squid by default allows tunnels to port 443 only. */
export const maySendPlainRequests = (thrown: unknown, { port }: Target): boolean => {
  if (!(thrown instanceof TunnelRefused) || port === 443) return false
  const { status } = thrown
  return (status >= 400 && status < 500 && status !== 407) || status === 501
}

/**
 * Requests a tunnel to the target from an HTTP proxy by CONNECT (RFC 9110 §9.3.6). Throws `CONNECTION_FAILED` if it fails, as
 * `TunnelRefused` if the proxy refused it.
 */
export const requestHttpTunnel = async (
  { write, readHead }: Line,
  proxy: Pick<CallersProxy, 'credentials'>,
  target: Target,
): Promise<void> => {
  const authority = formatAuthority(target)
  const [name, value] = proxyAuthorization(proxy)
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, ...(name ? [`${name}: ${value}`] : [])]
  write(`${lines.join('\r\n')}\r\n\r\n`)
  const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(await readHead()) ?? []
  if (status === undefined) throw failed('the response to CONNECT is not HTTP')
  if (status.startsWith('2')) return
  throw new TunnelRefused(Number(status))
}
