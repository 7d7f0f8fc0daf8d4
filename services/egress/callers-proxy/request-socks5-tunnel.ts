import { AppError } from '#shared/errors/app-error.ts'
import type { CallersProxy } from '#shared/net/callers-proxy.ts'
import { parseAddress } from '#shared/policy/cidr.ts'
import type { Line } from '#shared/net/handshake.ts'
import type { Target } from '#egress/target/parse-target.ts'

const version = 5
const noAuthentication = 0
const userAndPassword = 2
const connectCommand = 1
const ipv4 = 1
const domainName = 3
const ipv6 = 4

const failed = (message: string) => new AppError('CONNECTION_FAILED', { message })

const withLength = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes])

/** RFC 1928 §3, and RFC 1929 if the proxy chooses it. */
const authenticate = async ({ write, read }: Line, { credentials }: CallersProxy): Promise<void> => {
  const methods = credentials === undefined ? [noAuthentication] : [noAuthentication, userAndPassword]
  write(Buffer.of(version, methods.length, ...methods))
  const [replyVersion, method] = await read(2)
  if (replyVersion !== version) throw failed('the response is not SOCKS5')
  if (method === noAuthentication) return
  if (method !== userAndPassword || credentials === undefined) throw failed('it accepts no offered authentication')
  const texts = [credentials.user, credentials.password].map((text) => withLength(Buffer.from(text)))
  write(Buffer.concat([Buffer.of(1), ...texts]))
  const [, status] = await read(2)
  if (status !== 0) throw failed('it refused the credentials')
}

/** RFC 1928 §5. A name is sent unresolved: only the proxy resolves it. */
const encodeAddress = (host: string): Buffer => {
  const address = parseAddress(host)
  if (address !== undefined) return Buffer.of(address.kind() === 'ipv4' ? ipv4 : ipv6, ...address.toByteArray())
  const name = Buffer.from(host)
  if (name.length > 255) throw failed("the page's name is too long for SOCKS5")
  return Buffer.concat([Buffer.of(domainName), withLength(name)])
}

/** RFC 1928 §6: the address that the proxy connected from; not needed, but the page's bytes follow it. */
const skipBoundAddress = async ({ read }: Line, type: number | undefined): Promise<void> => {
  if (type === ipv4) await read(4)
  else if (type === ipv6) await read(16)
  else if (type === domainName) {
    const [length = 0] = await read(1)
    if (length > 0) await read(length)
  } else throw failed('the response is not SOCKS5')
  await read(2)
}

/** Requests a connection to the target from a SOCKS5 proxy. Throws `CONNECTION_FAILED` if it fails. */
export const requestSocks5Tunnel = async (line: Line, proxy: CallersProxy, target: Target): Promise<void> => {
  const address = encodeAddress(target.host)
  await authenticate(line, proxy)
  line.write(Buffer.of(version, connectCommand, 0, ...address, target.port >> 8, target.port & 0xff))
  const [replyVersion, reply, , type] = await line.read(4)
  if (replyVersion !== version) throw failed('the response is not SOCKS5')
  if (reply !== 0) throw failed(`the reply to CONNECT is ${reply}`)
  await skipBoundAddress(line, type)
}
