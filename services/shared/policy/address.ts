import type ipaddr from 'ipaddr.js'
import { parseBlocks, inAny, parseAddress } from './cidr.ts'
import { cloudBlocks } from './cloud-ranges.ts'
import { privateNetworks, specialNetworks } from './special-networks.ts'

const special = parseBlocks(specialNetworks)

/** RFC 4291 §2.4: allocated global unicast. Excludes loopback, mapped IPv4, NAT64, ULA, link-local. */
const globalUnicastV6 = parseBlocks(['2000::/3'])

const organisations = parseBlocks(privateNetworks)
const notPrivate = [...cloudBlocks, ...parseBlocks(['255.255.255.255/32'])]
const loopback = parseBlocks(['127.0.0.0/8', '::1/128'])

/** RFC 5214 §6.1: interface id `0000:5efe` or `0200:5efe`, then an IPv4 address; the mask spares the u and g bits. */
const isIsatap = ({ parts }: ipaddr.IPv6): boolean => ((parts[4] ?? 0) & 0xfcff) === 0 && parts[5] === 0x5efe

/**
 * Whether a page may be fetched from this address: IPv4 outside the special-purpose registry, or IPv6 global unicast
 * outside it that wraps no IPv4 address, except clouds' internal services. Anything that is not a plain address is
 * not public.
 */
export const isPublicAddress = (ip: string): boolean => {
  const address = parseAddress(ip)
  if (address === undefined || inAny(cloudBlocks, address) || inAny(special, address)) return false
  return address.kind() === 'ipv4' || (inAny(globalUnicastV6, address) && !isIsatap(address as ipaddr.IPv6))
}

/** Whether the address belongs to a private network and to no cloud's own services; loopback and link-local do not. */
export const isPrivateAddress = (ip: string): boolean => {
  const address = parseAddress(ip)
  return address !== undefined && inAny(organisations, address) && !inAny(notPrivate, address)
}

/** Whether the address is this machine's loopback. */
export const isLoopback = (ip: string): boolean => {
  const address = parseAddress(ip)
  return address !== undefined && inAny(loopback, address)
}
