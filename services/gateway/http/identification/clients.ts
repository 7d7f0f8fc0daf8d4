import ipaddr from 'ipaddr.js'
import { type Address, type Cidr, inAny, parseAddress } from '#shared/policy/cidr.ts'
import type { Exchange } from '#gateway/http/exchange.ts'

/** The sender of a request, for rate limits. */
export type Client = {
  /** One client: an IPv4 address, or an IPv6 /64. */
  readonly network: string
  /** The owner of networks: the IPv4 address again, or the IPv6 /48, the largest prefix that a site is assigned (RFC 6177). */
  readonly site: string
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
const unwrap = (address: Address): Address =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address

const parseHop = (text: string): Address | undefined => {
  const hop = text.trim()
  const { v6, v4 } = /^(?:\[(?<v6>[^\]]+)\](?::\d+)?|(?<v4>[\d.]+):\d+)$/.exec(hop)?.groups ?? {}
  const address = parseAddress(v6 ?? v4 ?? hop)
  return address && unwrap(address)
}

/** The network is the smallest prefix that one subscriber gets, the site the largest (RFC 6177); of IPv4 both are the address. */
const clientAt = (address: Address): Client => {
  if (!(address instanceof ipaddr.IPv6)) return { network: address.toString(), site: address.toString() }
  const prefix = (bits: number) =>
    `${address.parts
      .slice(0, bits / 16)
      .map((part) => part.toString(16))
      .join(':')}/${bits}`
  return { network: prefix(64), site: prefix(48) }
}

const unknown: Client = { network: 'unknown', site: 'unknown' }

/** Whether a connection comes from a proxy whose `X-Forwarded-For` is used. */
const isTrusted = (peer: string | undefined, trusted: readonly Cidr[]): boolean => {
  const address = parseHop(peer ?? '')
  return address !== undefined && inAny(trusted, address)
}

/**
 * The client of a request: the address of the connection, unless that is a trusted proxy; then the rightmost entry of
 * `X-Forwarded-For` that is not a trusted proxy. Entries left of it, or of an invalid entry, cannot be trusted.
 */
export const clientAddress = (
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: readonly Cidr[],
): Client => {
  let client = parseHop(peer ?? '')
  const hops = forwardedFor?.split(',') ?? []
  while (client && hops.length > 0 && inAny(trusted, client)) {
    const next = parseHop(hops.pop() ?? '')
    if (!next) break
    client = next
  }
  return client ? clientAt(client) : unknown
}

/** Determines the clients of requests. */
export type Clients = {
  readonly find: (exchange: Pick<Exchange, 'peerAddress' | 'headers'>) => Client
  /** The first untrusted address that sent an `X-Forwarded-For`; undefined if there was none. */
  readonly ignoredProxy: () => string | undefined
}

/** `ignored` is called once, with the first address whose `X-Forwarded-For` was not used. */
export const createClients = (options: {
  readonly trustedProxies: readonly Cidr[]
  readonly ignored: (peer: string) => void
}): Clients => {
  const { trustedProxies } = options
  let ignoredProxy: string | undefined
  return {
    ignoredProxy: () => ignoredProxy,
    find: ({ peerAddress, headers }) => {
      const forwardedFor = headers['x-forwarded-for']?.toString()
      if (forwardedFor !== undefined && ignoredProxy === undefined && !isTrusted(peerAddress, trustedProxies)) {
        ignoredProxy = peerAddress ?? 'unknown'
        options.ignored(ignoredProxy)
      }
      return clientAddress(peerAddress, forwardedFor, trustedProxies)
    },
  }
}
