import ipaddr from 'ipaddr.js'
import { type Address, type Cidr, inAny, parseAddress } from '#shared/policy/cidr.ts'

/** An IPv4 address that came wrapped in IPv6 is itself. */
const unwrap = (address: Address): Address =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address

const parseHop = (text: string): Address | undefined => {
  const hop = text.trim()
  const { v6, v4 } = /^(?:\[(?<v6>[^\]]+)\](?::\d+)?|(?<v4>[\d.]+):\d+)$/.exec(hop)?.groups ?? {}
  const address = parseAddress(v6 ?? v4 ?? hop)
  return address && unwrap(address)
}

/** Bits of an address that tell clients apart: a client on IPv6 has a whole /64 to itself. */
const networkOf = (address: Address): string =>
  address instanceof ipaddr.IPv6 ? `${address.parts.slice(0, 4).join(':')}/64` : address.toString()

/**
 * Who sends a request, as far as limits go: the address of the connection, unless that is a trusted proxy's; then the
 * rightmost entry of `X-Forwarded-For` that is none. What stands left of it, or of an entry that is no address, was
 * written by anybody. Clients of one IPv6 /64 are one.
 */
export const clientAddress = (
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: readonly Cidr[],
): string => {
  let client = parseHop(peer ?? '')
  const hops = forwardedFor?.split(',') ?? []
  while (client && hops.length > 0 && inAny(trusted, client)) {
    const next = parseHop(hops.pop() ?? '')
    if (!next) break
    client = next
  }
  return client ? networkOf(client) : 'unknown'
}
