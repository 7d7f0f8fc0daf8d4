import { AppError } from '#shared/errors/app-error.ts'
import type { CallersProxy } from '#shared/net/callers-proxy.ts'
import { isAddress } from '#shared/policy/host.ts'
import type { Line } from '#shared/net/handshake.ts'
import type { Target } from '#egress/target/parse-target.ts'
import { proxyAuthorization } from './proxy-authorization.ts'

const failed = (message: string) => new AppError('CONNECTION_FAILED', { message })

const authorityOf = ({ host, port }: Target): string =>
  isAddress(host) && host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/** The proxy makes no tunnel to this target, as squid by default to no port but 443; it may still take plain requests. */
export class TunnelRefused extends AppError {}

const isRefusal = (status: string): boolean => (status.startsWith('4') && status !== '407') || status === '501'

/**
 * Requests a tunnel to the target of an HTTP proxy by CONNECT (RFC 9110 §9.3.6). Throws `CONNECTION_FAILED` where it makes
 * none, as `TunnelRefused` where plain requests may fare better: to port 443 none do.
 */
export const askHttpProxy = async ({ write, readHead }: Line, proxy: CallersProxy, target: Target): Promise<void> => {
  const authority = authorityOf(target)
  const [name, value] = proxyAuthorization(proxy)
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, ...(name ? [`${name}: ${value}`] : [])]
  write(`${lines.join('\r\n')}\r\n\r\n`)
  const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(await readHead()) ?? []
  if (status === undefined) throw failed('the answer to CONNECT is not HTTP')
  if (status.startsWith('2')) return
  const message = `the answer to CONNECT is ${status}`
  throw target.port !== 443 && isRefusal(status) ? new TunnelRefused('CONNECTION_FAILED', { message }) : failed(message)
}
