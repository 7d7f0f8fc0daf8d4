import { isPublicAddress } from '#shared/policy/address.ts'
import { parseBlocks, type Cidr, inAny, parseAddress, parseCidr } from '#shared/policy/cidr.ts'

/** The name whose IPv6 addresses reveal a network's prefixes, and the IPv4 addresses that it has (RFC 7050 §3, RFC 8880). */
export const discoveryName = 'ipv4only.arpa'
const discoveryAddresses = ['192.0.0.170', '192.0.0.171']

/** Prefix lengths of RFC 6052 §2.2, in bits. */
const prefixLengths = [32, 40, 48, 56, 64, 96] as const

/** Reserved for translation by RFC 6052 §2.1 and RFC 8215. */
const translationOnly = parseBlocks(['64:ff9b::/32'])

/** The IPv4 address embedded in an IPv6 address after a prefix of this length (RFC 6052 §2.2): four bytes, skipping byte 8. */
const embeddedIpv4 = (bytes: readonly number[], length: number): string =>
  bytes
    .filter((_, index) => index >= length / 8 && index !== 8)
    .slice(0, 4)
    .join('.')

/** The IPv4 addresses that NAT64 translates an address to; none if it has none of the prefixes. */
export const translatedAddresses = (ip: string, prefixes: readonly Cidr[]): readonly string[] => {
  const address = parseAddress(ip)
  if (address === undefined) return []
  const bytes = address.toByteArray()
  return prefixes.flatMap((prefix) => (inAny([prefix], address) ? [embeddedIpv4(bytes, prefix[1])] : []))
}

/**
 * The prefixes found in the addresses of `discoveryName`. Only public addresses and those reserved for translation count, so
 * that a DNS response cannot make addresses of a private network public.
 */
export const prefixesIn = (answers: readonly string[]): readonly Cidr[] =>
  answers.flatMap((ip) => {
    const address = parseAddress(ip)
    if (address?.kind() !== 'ipv6' || !(isPublicAddress(ip) || inAny(translationOnly, address))) return []
    const bytes = address.toByteArray()
    const lengths = prefixLengths.filter((length) => discoveryAddresses.includes(embeddedIpv4(bytes, length)))
    return lengths.map((length) => parseCidr(`${ip}/${length}`)).filter((prefix) => prefix !== undefined)
  })

/** Time until a discovery is repeated: after a response, and without one. */
const refreshMs = 600_000
const retryMs = 10_000

/** Dependencies of a discovery. */
export type Discovery = {
  /** The IPv6 addresses of a name; undefined if no server responded. Never rejects. */
  readonly query: (name: string) => Promise<readonly string[] | undefined>
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Called for each discovery without a response. */
  readonly failed: () => void
}

/**
 * Discovers the NAT64 prefixes of this network when they are first needed, and again after ten minutes; the last
 * result is used meanwhile. `undefined` before the first result.
 */
export const createDiscovery = ({ query, now, failed }: Discovery): (() => Promise<readonly Cidr[] | undefined>) => {
  let known: readonly Cidr[] | undefined
  let dueMs = Number.NEGATIVE_INFINITY
  let running: Promise<void> | undefined
  const discover = async () => {
    const answers = await query(discoveryName)
    if (answers === undefined) failed()
    else known = prefixesIn(answers)
    dueMs = now() + (answers === undefined ? retryMs : refreshMs)
    running = undefined
  }
  return async () => {
    if (now() >= dueMs) running ??= discover()
    if (known === undefined) await running
    return known
  }
}
