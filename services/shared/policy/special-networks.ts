import { cloudRanges } from './cloud-ranges.ts'

/** Networks for private use by organisations: RFC 1918, 6598, 2544 and 4193, and class E, which GKE gives to pods. */
export const privateNetworks: readonly string[] = [
  '10.0.0.0/8', // RFC 1918
  '100.64.0.0/10', // RFC 6598 shared address space: pods, nodes, Alibaba's metadata
  '172.16.0.0/12', // RFC 1918
  '192.168.0.0/16', // RFC 1918
  '198.18.0.0/15', // RFC 2544 benchmarking; inside some clusters and VPN clients
  '240.0.0.0/4', // RFC 1112 reserved (class E: pod ranges on GKE) and RFC 919 limited broadcast
  'fc00::/7', // RFC 4193 unique local
]

/**
 * Networks that never serve public web pages: private ones, the others of the IANA special-purpose registries, and multicast. The
 * only list of them: egress refuses them, and the chart's default of `networkPolicy.deniedNetworks` is `deniedNetworks`.
 */
export const specialNetworks: readonly string[] = [
  ...privateNetworks,
  '0.0.0.0/8', // RFC 791 "this network"; 0.0.0.0 reaches loopback on Linux
  '127.0.0.0/8', // RFC 1122 loopback
  '169.254.0.0/16', // RFC 3927 link-local: cloud metadata, node-local DNS
  '192.0.0.0/24', // RFC 6890 protocol assignments: DS-Lite, PCP and TURN anycast, Oracle's metadata
  '192.0.2.0/24', // RFC 5737 documentation
  '192.31.196.0/24', // RFC 7535 AS112: anycast to the nearest sink
  '192.52.193.0/24', // RFC 7450 AMT: anycast to the nearest relay
  '192.88.99.0/24', // RFC 7526 6to4 relay anycast, deprecated
  '192.175.48.0/24', // RFC 7534 AS112 direct delegation
  '198.51.100.0/24', // RFC 5737 documentation
  '203.0.113.0/24', // RFC 5737 documentation
  '224.0.0.0/4', // RFC 5771 multicast
  '::/128', // RFC 4291 unspecified
  '::1/128', // RFC 4291 loopback
  '64:ff9b::/96', // RFC 6052 NAT64, wraps IPv4
  '64:ff9b:1::/48', // RFC 8215 NAT64 of a network's own, wraps IPv4
  '100::/64', // RFC 6666 discard
  // RFC 2928 protocol assignments, with Teredo (RFC 4380), which wraps IPv4. The registry calls a few blocks in it
  // globally reachable (PCP, TURN and DNS-SD anycast, AMT, AS112, ORCHIDv2, drone ids); none serves web pages, and
  // anycast reaches the operator's own nearest host.
  '2001::/23',
  '2001:db8::/32', // RFC 3849 documentation
  '2002::/16', // RFC 3056 6to4, wraps IPv4
  '2620:4f:8000::/48', // RFC 7534 AS112 direct delegation
  '3fff::/20', // RFC 9637 documentation
  '5f00::/16', // RFC 9602 segment routing
  'fe80::/10', // RFC 4291 link-local
  'fec0::/10', // RFC 3879 site-local, deprecated
  'ff00::/8', // RFC 4291 multicast
]

/** All networks that the egress filters must not reach: special ones, and clouds' internal services at public addresses. */
export const deniedNetworks: readonly string[] = [...specialNetworks, ...cloudRanges.map(({ block }) => block)]
