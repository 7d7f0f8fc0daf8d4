import { AppError } from '#shared/errors/app-error.ts'
import type { CallersProxy } from '#shared/net/callers-proxy.ts'
import { isAddress } from '#shared/policy/host.ts'
import type { Line } from './handshake.ts'
import type { Target } from '#egress/target/parse-target.ts'
import { proxyAuthorization } from './proxy-authorization.ts'

/** Most bytes of the head that answers a CONNECT. */
const headBytesMax = 16_384

const failed = (message: string) => new AppError('CONNECTION_FAILED', { message })

const authorityOf = ({ host, port }: Target): string =>
  isAddress(host) && host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

const hearHead = async (hear: Line['hear']): Promise<string> => {
  let head = ''
  let last = ''
  while (last !== '\r\n\r\n') {
    if (head.length === headBytesMax) throw failed('the answer to CONNECT is too large')
    const next = (await hear(1)).toString('latin1')
    head += next
    last = (last + next).slice(-4)
  }
  return head
}

/** Asks an HTTP proxy for a tunnel to the target by CONNECT (RFC 9110 §9.3.6). Throws `CONNECTION_FAILED` where it makes none. */
export const askHttpProxy = async ({ say, hear }: Line, proxy: CallersProxy, target: Target): Promise<void> => {
  const authority = authorityOf(target)
  const [name, value] = proxyAuthorization(proxy)
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, ...(name ? [`${name}: ${value}`] : [])]
  say(`${lines.join('\r\n')}\r\n\r\n`)
  const [, status] = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(await hearHead(hear)) ?? []
  if (status === undefined) throw failed('the answer to CONNECT is not HTTP')
  if (!status.startsWith('2')) throw failed(`the answer to CONNECT is ${status}`)
}
