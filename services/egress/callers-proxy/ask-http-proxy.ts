import { AppError } from '#shared/errors/app-error.ts'
import type { CallersProxy } from '#shared/net/callers-proxy.ts'
import { isAddress } from '#shared/policy/host.ts'
import type { Line } from '#shared/net/handshake.ts'
import type { Target } from '#egress/target/parse-target.ts'
import { proxyAuthorization } from './proxy-authorization.ts'

const failed = (message: string) => new AppError('CONNECTION_FAILED', { message })

const authorityOf = ({ host, port }: Target): string =>
  isAddress(host) && host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/** Asks an HTTP proxy for a tunnel to the target by CONNECT (RFC 9110 §9.3.6). Throws `CONNECTION_FAILED` where it makes none. */
export const askHttpProxy = async ({ write, readHead }: Line, proxy: CallersProxy, target: Target): Promise<void> => {
  const authority = authorityOf(target)
  const [name, value] = proxyAuthorization(proxy)
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, ...(name ? [`${name}: ${value}`] : [])]
  write(`${lines.join('\r\n')}\r\n\r\n`)
  const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(await readHead()) ?? []
  if (status === undefined) throw failed('the answer to CONNECT is not HTTP')
  if (!status.startsWith('2')) throw failed(`the answer to CONNECT is ${status}`)
}
