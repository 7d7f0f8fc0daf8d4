import type ipaddr from 'ipaddr.js'
import { parseBlocks, inAny, parseAddress } from './cidr.ts'
import { cloudBlocks } from './cloud-ranges.ts'

/** IANA IPv4 Special-Purpose Address Registry, multicast, and other blocks that never serve public web pages. */
const specialV4 = parseBlocks([
  '0.0.0.0/8', // RFC 791 "this network"; 0.0.0.0 reaches loopback on Linux
  '10.0.0.0/8', // RFC 1918 private
  '100.64.0.0/10', // RFC 6598 shared address space: pods, nodes, Alibaba's metadata
  '127.0.0.0/8', // RFC 1122 loopback
  '169.254.0.0/16', // RFC 3927 link-local: cloud metadata, node-local DNS
  '172.16.0.0/12', // RFC 1918 private
  '192.0.0.0/24', // RFC 6890 protocol assignments: DS-Lite, PCP and TURN anycast, Oracle's metadata
  '192.0.2.0/24', // RFC 5737 documentation
  '192.31.196.0/24', // RFC 7535 AS112: anycast to the nearest sink
  '192.52.193.0/24', // RFC 7450 AMT: anycast to the nearest relay
  '192.88.99.0/24', // RFC 7526 6to4 relay anycast, deprecated
  '192.168.0.0/16', // RFC 1918 private
  '192.175.48.0/24', // RFC 7534 AS112 direct delegation
  '198.18.0.0/15', // RFC 2544 benchmarking; inside some clusters and VPN clients
  '198.51.100.0/24', // RFC 5737 documentation
  '203.0.113.0/24', // RFC 5737 documentation
  '224.0.0.0/4', // RFC 5771 multicast
  '240.0.0.0/4', // RFC 1112 reserved (class E: pod ranges on GKE) and RFC 919 limited broadcast
])

/** RFC 4291 §2.4: allocated global unicast. Excludes loopback, mapped IPv4, NAT64, ULA, link-local. */
const globalUnicastV6 = parseBlocks(['2000::/3'])

/** IANA IPv6 Special-Purpose Address Registry inside 2000::/3. */
const specialV6 = parseBlocks([
  // RFC 2928 protocol assignments, with Teredo (RFC 4380), which wraps IPv4. The registry calls a few blocks in it
  // globally reachable (PCP, TURN and DNS-SD anycast, AMT, AS112, ORCHIDv2, drone ids); none serves web pages, and
  // anycast reaches the operator's own nearest host.
  '2001::/23',
  '2001:db8::/32', // RFC 3849 documentation
  '2002::/16', // RFC 3056 6to4, wraps IPv4
  '2620:4f:8000::/48', // RFC 7534 AS112 direct delegation
  '3fff::/20', // RFC 9637 documentation
])

/** Networks for private use by organisations: RFC 1918, 6598, 2544 and 4193, and class E, which GKE gives to pods. */
const privateNetworks = parseBlocks([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '240.0.0.0/4',
  'fc00::/7',
])

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
  if (address === undefined || inAny(cloudBlocks, address)) return false
  if (address.kind() === 'ipv4') return !inAny(specialV4, address)
  return inAny(globalUnicastV6, address) && !inAny(specialV6, address) && !isIsatap(address as ipaddr.IPv6)
}

/** Whether the address belongs to a private network and to no cloud's own services; loopback and link-local do not. */
export const isPrivateAddress = (ip: string): boolean => {
  const address = parseAddress(ip)
  return address !== undefined && inAny(privateNetworks, address) && !inAny(notPrivate, address)
}

/** Whether the address is this machine's loopback. */
export const isLoopback = (ip: string): boolean => {
  const address = parseAddress(ip)
  return address !== undefined && inAny(loopback, address)
}
