import { parseAddress } from './cidr.ts'

/** A host alone: a bracketed IPv6 address, or characters that neither end a URL's host nor begin its port. */
const hostOnly = /^(\[[^\]]*\]|[^[\]:/?#@\\]+)$/

/** A label without characters: resolvers disagree about names that contain one. */
const emptyLabel = /(^|\.)(\.|$)/

/**
 * Normalizes a host for all checks: the result of the WHATWG parser (every spelling of an IPv4 address becomes four
 * decimal numbers, names become lower-case ASCII), without brackets and without the dot that ends an absolute name.
 * `undefined` if the parser rejects it or a label is empty.
 */
export const normalHost = (text: string): string | undefined => {
  if (!hostOnly.test(text)) return undefined
  const host = URL.parse(`http://${text}/`)
    ?.hostname.replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
  return host === undefined || emptyLabel.test(host) ? undefined : host
}

/** Whether a normal host is an IP address rather than a name. */
export const isAddress = (host: string): boolean => parseAddress(host) !== undefined

/** Whether a name can only mean this machine or its network: a single label, or below `localhost` or `localdomain`. */
export const isLocalName = (host: string): boolean => !host.includes('.') || /\.(localhost|localdomain)$/.test(host)

/** Joins a host, given without brackets, and a port, as in addresses and CONNECT requests. */
export const formatAuthority = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`
