import { normalHost } from '#shared/policy/host.ts'

/**
 * Header by which a client of the egress filter names the proxy that a request goes through, as `proxyHeaderValue`
 * writes it. It contains credentials: it is neither logged nor passed on.
 */
export const proxyHeader = 'x-shutterfleet-proxy'

/** The proxy of a capture's caller; `host` is a normal host, `credentials` are decoded. It resolves the host names of pages. */
export type CallersProxy = {
  readonly kind: 'http' | 'socks5'
  readonly host: string
  readonly port: number
  readonly credentials: { readonly user: string; readonly password: string } | undefined
}

const form = /^(http|socks5h?):\/\/(?:([^@/?#\\\s]*)@)?(\[[^\]]+\]|[^:/?#@[\]]+):(\d{1,5})\/?$/i

/** RFC 1929: the lengths of user and password are one byte each. */
const socksTextBytesMax = 255

/** Parses `user:password`, both empty if there is neither; `undefined` if it is not percent-encoded UTF-8. */
const readCredentials = (text: string) => {
  try {
    const [user = '', ...rest] = text.split(':').map((part) => decodeURIComponent(part))
    return { user, password: rest.join(':') }
  } catch {
    return undefined
  }
}

/** Converts a caller's `proxy` to the header's value: percent-encodes what is not printable ASCII. */
export const proxyHeaderValue = (proxy: string): string =>
  proxy.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)

/**
 * Parses the header's value: `http://`, `socks5://` or `socks5h://`, optional percent-encoded credentials, host and port.
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
