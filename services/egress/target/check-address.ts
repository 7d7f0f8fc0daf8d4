import { AppError } from '#shared/errors/app-error.ts'
import { isLoopback, isPrivateAddress, isPublicAddress } from '#shared/policy/address.ts'
import { allowsAddress, allowsName, type AllowTarget } from '#shared/policy/allow-list.ts'
import { type Cidr, inAny, parseAddress } from '#shared/policy/cidr.ts'
import { translatedAddresses } from './nat64.ts'
import type { Target } from './parse-target.ts'

/** Addresses of this machine, and their networks, whose hosts may trust each other even if public. */
export type OwnNetwork = { readonly addresses: ReadonlySet<string>; readonly networks: readonly Cidr[] }

/** Rules for the addresses of one target. */
export type AddressRules = {
  readonly allow: readonly AllowTarget[]
  readonly deny: readonly Cidr[]
  readonly own: OwnNetwork
  /** Prefixes behind which this network translates IPv6 to IPv4. */
  readonly nat64: readonly Cidr[]
  /** The ports of this filter. */
  readonly ownPorts: readonly number[]
}

/** A refusal by the rules. */
export const blockedError = (message: string): AppError => new AppError('BLOCKED', { message })

/** Loopback and unspecified addresses reach this machine on every port. */
const isOwnAddress = (ip: string, { addresses }: OwnNetwork): boolean =>
  addresses.has(ip) || /^(127\.|0\.|::1?$)/.test(ip)

const refuseDenied = (ip: string, { deny, own, ownPorts }: AddressRules, { port }: Target): void => {
  const address = parseAddress(ip)
  if (address === undefined) throw blockedError('the answer is not an address')
  if (inAny(deny, address)) throw blockedError('the address is denied')
  if (ownPorts.includes(port) && isOwnAddress(ip, own)) throw blockedError('the address is this filter')
}

/** Whoever controls the name's DNS chooses its addresses: an allowed name opens none that only this machine or a cloud serves. */
const isAllowableByName = (ip: string, host: string): boolean =>
  isPublicAddress(ip) || isPrivateAddress(ip) || (host === 'localhost' && isLoopback(ip))

const refuseNonPublic = (ip: string, { allow, own }: AddressRules, { host, port }: Target): void => {
  if (allowsAddress(allow, ip, port)) return
  if (allowsName(allow, host, port)) {
    if (!isAllowableByName(ip, host)) throw blockedError('the address must be allowed by address, not by name')
    return
  }
  const address = parseAddress(ip)
  if (!isPublicAddress(ip)) throw blockedError('the address is not public')
  if (address && inAny(own.networks, address)) throw blockedError('the address lies in a network of this machine')
}

/** Throws `BLOCKED` if this address of the target may not be reached. A NAT64 address is checked as its IPv4 address too. */
export const checkAddress = (ip: string, rules: AddressRules, target: Target): void => {
  const behind = translatedAddresses(ip, rules.nat64)
  for (const each of [ip, ...behind]) refuseDenied(each, rules, target)
  if (allowsAddress(rules.allow, ip, target.port)) return
  for (const each of behind.length > 0 ? behind : [ip]) refuseNonPublic(each, rules, target)
}
