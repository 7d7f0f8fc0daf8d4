import { AppError } from '#shared/errors/app-error.ts'
import { isLoopback } from '#shared/policy/address.ts'
import { allowsAddress, allowsName, type AllowTarget } from '#shared/policy/allow-list.ts'
import type { Cidr } from '#shared/policy/cidr.ts'
import { isAddress } from '#shared/policy/host.ts'
import { isBadPort } from '#shared/policy/ports.ts'
import type { TargetLists } from '#shared/policy/target-lists.ts'
import { isInternalName } from './internal-domains.ts'
import { blockedError, checkAddress, type OwnNetwork } from './check-address.ts'
import { assertAddressesListed, assertNameListed } from './check-lists.ts'
import type { Route, Target } from './parse-target.ts'

/** Resolves a name to its addresses of both families; empty if there are none or the query failed. Never throws. */
export type Resolver = {
  /** By DNS alone. */
  readonly resolve: (name: string) => Promise<readonly string[]>
  /** By the hosts file, and by DNS if the file does not contain the name. */
  readonly lookup: (name: string) => Promise<readonly string[]>
}

/** The operator's rules, and the current network of this machine. */
export type TargetRules = {
  readonly allow: readonly AllowTarget[]
  readonly deny: readonly Cidr[]
  /** Domains of this network: names below them are refused before they are resolved. */
  readonly internal: readonly string[]
  readonly own: () => OwnNetwork
  /** Prefixes behind which this network translates IPv6 to IPv4; undefined until they are discovered. */
  readonly nat64: () => Promise<readonly Cidr[] | undefined>
  /** The installation's lists of targets; like those of an account they only refuse, and open nothing. */
  readonly lists: TargetLists
}

/** What a client's request says about how its target is checked: the account's lists, and the ports of this filter. */
export type ClientRules = Pick<Route, 'lists' | 'ownPorts'>

/** A name with more is refused, because each address is checked and a response may contain thousands. */
const addressesMax = 64

const checkPortAndName = (rules: TargetRules, { host, port }: Target): void => {
  if (isBadPort(port)) throw blockedError('the port is a bad port of the Fetch standard')
  if (!isAddress(host) && isInternalName(host, rules.internal) && !allowsName(rules.allow, host, port)) {
    throw blockedError('the name is internal')
  }
}

const listsOf = (rules: TargetRules, client: ClientRules) => ({ installation: rules.lists, account: client.lists })

/** Checks the target of a proxy without resolving it: port, literal address, internal names, lists. Throws `BLOCKED`. */
export const checkTargetWithoutDns = (rules: TargetRules, target: Target, client: ClientRules): void => {
  checkPortAndName(rules, target)
  const lists = listsOf(rules, client)
  assertNameListed(lists, target, { isResolvedLater: false })
  if (!isAddress(target.host)) return
  checkAddress(target.host, { ...rules, own: rules.own(), nat64: [], ownPorts: client.ownPorts }, target)
  assertAddressesListed(lists, target, { addresses: [target.host], nat64: [] })
}

const resolveAddresses = async (resolver: Resolver, { allow }: TargetRules, { host, port }: Target) => {
  if (isAddress(host)) return [host]
  const addresses = await (allowsName(allow, host, port) ? resolver.lookup(host) : resolver.resolve(host))
  if (addresses.length === 0) throw new AppError('DNS_FAILED', { message: 'the name has no address' })
  if (addresses.length > addressesMax) throw blockedError('the name has too many addresses')
  return addresses
}

const mayBeTranslated = (ip: string): boolean => ip.includes(':') && !isLoopback(ip)

/**
 * Decides whether a target may be reached, and returns its addresses. One blocked address blocks the target: a name that mixes
 * public and private addresses is an attack or a mistake. The lists can only refuse what has passed all else. Until the NAT64 prefixes are discovered, only IPv4, loopback and
 * addresses that are allowed themselves are returned. Throws `BLOCKED` or `DNS_FAILED`.
 */
export const resolveTarget = async (
  { resolver, rules }: { readonly resolver: Resolver; readonly rules: TargetRules },
  target: Target,
  client: ClientRules,
): Promise<readonly string[]> => {
  checkPortAndName(rules, target)
  const lists = listsOf(rules, client)
  assertNameListed(lists, target, { isResolvedLater: true })
  const addresses = await resolveAddresses(resolver, rules, target)
  const nat64 = addresses.some(mayBeTranslated) ? await rules.nat64() : []
  const addressRules = { ...rules, own: rules.own(), nat64: nat64 ?? [], ownPorts: client.ownPorts }
  for (const ip of addresses) checkAddress(ip, addressRules, target)
  assertAddressesListed(lists, target, { addresses, nat64: addressRules.nat64 })
  if (nat64 !== undefined) return addresses
  const usableWithoutNat64 = addresses.filter(
    (ip) => !mayBeTranslated(ip) || allowsAddress(rules.allow, ip, target.port),
  )
  if (usableWithoutNat64.length > 0) return usableWithoutNat64
  throw new AppError('DNS_FAILED', { message: 'NAT64 prefixes of the network not discovered yet' })
}
