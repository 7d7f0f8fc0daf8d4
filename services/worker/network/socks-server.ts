import type { Socket } from 'node:net'
import type { HostPort } from '#shared/config/settings/worker.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { handshake } from '#shared/net/handshake.ts'

/** Browsers send their part without delay. */
const handshakeMs = 10_000

const version = 5
const noAuthentication = 0
const connectCommand = 1
const domainName = 3

/** Reply codes of RFC 1928 §6. */
const replies = { succeeded: 0, failed: 1, notAllowed: 2, hostUnreachable: 4 } as const

/** The reply to a SOCKS request. */
export type SocksReply = keyof typeof replies

/** Excludes line breaks and spaces, which would allow header injection into the request to egress. */
const printable = /^[\x21-\x7e]+$/

const malformed = () => new AppError('BAD_REQUEST', { message: 'no SOCKS5 request for a name' })

/**
 * Reads a SOCKS5 request (RFC 1928) in Chromium's form: no authentication, CONNECT, the host as text, an IPv6 address
 * without brackets. Throws and destroys the client if the request has another form.
 */
export const readSocksRequest = (client: Socket): Promise<HostPort> =>
  handshake(client, handshakeMs, async ({ write, read }) => {
    const [clientVersion, methods = 0] = await read(2)
    if (clientVersion !== version || methods === 0) throw malformed()
    if (!(await read(methods)).includes(noAuthentication)) throw malformed()
    write(Buffer.of(version, noAuthentication))
    const [, command, , type, length = 0] = await read(5)
    if (command !== connectCommand || type !== domainName || length === 0) throw malformed()
    const rest = await read(length + 2)
    const host = rest.toString('latin1', 0, length)
    if (!printable.test(host)) throw malformed()
    return { host, port: rest.readUInt16BE(length) }
  })

/** The reply to a SOCKS5 request; no browser uses the bound address in it. */
export const socksReply = (reply: SocksReply): Buffer => Buffer.of(version, replies[reply], 0, 1, 0, 0, 0, 0, 0, 0)
