import { normalHost } from '#shared/policy/host.ts'

/**
 * Header by which a client of the egress filter names the proxy that a request goes through, as `proxyHeaderValue`
 * writes it. It holds credentials: it is neither logged nor passed on to anybody.
 */
export const proxyHeader = 'x-shutterfleet-proxy'

/** The proxy of a capture's caller; `host` is a normal host, `credentials` are decoded. Names of pages are its to resolve. */
export type CallersProxy = {
  readonly kind: 'http' | 'socks5'
  readonly host: string
  readonly port: number
  readonly credentials: { readonly user: string; readonly password: string } | undefined
}

const form = /^(http|socks5h?):\/\/(?:([^@/?#\\\s]*)@)?(\[[^\]]+\]|[^:/?#@[\]]+):(\d{1,5})\/?$/i

/** RFC 1929 gives one byte to the length of a user and of a password. */
const socksTextBytesMax = 255

/** Reads `user:password`, both empty where there is neither; `undefined` where it is not percent-encoded UTF-8. */
const readCredentials = (text: string) => {
  try {
    const [user = '', ...rest] = text.split(':').map((part) => decodeURIComponent(part))
    return { user, password: rest.join(':') }
  } catch {
    return undefined
  }
}

/** Writes a caller's `proxy` as the header's value: what is not printable ASCII is percent-encoded, all else stays. */
export const proxyHeaderValue = (proxy: string): string =>
  proxy.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)

/**
 * Reads the header's value: `http://`, `socks5://` or `socks5h://`, optional percent-encoded credentials, host and port.
 * `undefined` for anything else, and for SOCKS credentials of more than 255 bytes.
 */
export const parseCallersProxy = (value: string): CallersProxy | undefined => {
  const [, scheme = '', userInfo = '', hostText = '', portText = ''] = form.exec(value) ?? []
  const host = normalHost(hostText)
  const port = Number(portText)
  const read = readCredentials(userInfo)
  if (host === undefined || port > 65_535 || read === undefined) return undefined
  const longest = Math.max(Buffer.byteLength(read.user), Buffer.byteLength(read.password))
  const credentials = longest === 0 ? undefined : read
  if (scheme.toLowerCase() === 'http') return { kind: 'http', host, port, credentials }
  return longest > socksTextBytesMax ? undefined : { kind: 'socks5', host, port, credentials }
}
