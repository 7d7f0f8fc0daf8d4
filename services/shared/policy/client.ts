import ipaddr from 'ipaddr.js'
import { type Address, parseAddress } from './cidr.ts'

/** The sender of a request, for rate limits and shares. */
export type Client = {
  /** One client: an IPv4 address, or an IPv6 /64. */
  readonly network: string
  /** The owner of networks: the IPv4 address again, or the IPv6 /48, the largest prefix that a site is assigned (RFC 6177). */
  readonly site: string
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
const unwrap = (address: Address): Address =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address

/** The address of a peer or of an entry of `X-Forwarded-For`, which may have a port; undefined if it is none. */
export const parseHop = (text: string): Address | undefined => {
  const hop = text.trim()
  const { v6, v4 } = /^(?:\[(?<v6>[^\]]+)\](?::\d+)?|(?<v4>[\d.]+):\d+)$/.exec(hop)?.groups ?? {}
  const address = parseAddress(v6 ?? v4 ?? hop)
  return address && unwrap(address)
}

/** All senders without an address are one client. */
const unknown: Client = { network: 'unknown', site: 'unknown' }

/** The network is the smallest prefix that one subscriber gets, the site the largest (RFC 6177); of IPv4 both are the address. */
export const clientAt = (address: Address | undefined): Client => {
  if (!address) return unknown
  if (!(address instanceof ipaddr.IPv6)) return { network: address.toString(), site: address.toString() }
  const prefix = (bits: number) =>
    `${address.parts
      .slice(0, bits / 16)
      .map((part) => part.toString(16))
      .join(':')}/${bits}`
  return { network: prefix(64), site: prefix(48) }
}
