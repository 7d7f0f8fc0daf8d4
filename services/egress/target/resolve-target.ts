import { AppError } from '#shared/errors/app-error.ts'
import { allowsName, type AllowTarget } from '#shared/policy/allow-list.ts'
import type { Cidr } from '#shared/policy/cidr.ts'
import { isAddress } from '#shared/policy/host.ts'
import { isBadPort } from '#shared/policy/ports.ts'
import { isInternalName } from './internal-domains.ts'
import { blocked, judgeAddress, type OwnNetwork } from './judge-address.ts'
import type { Target } from './parse-target.ts'

/** Finds the addresses of a name, both families together; none where it has none or the answer failed. Never throws. */
export type Resolver = {
  /** By DNS alone. */
  readonly resolve: (name: string) => Promise<readonly string[]>
  /** By the hosts file, and by DNS where that does not have the name. */
  readonly lookup: (name: string) => Promise<readonly string[]>
}

/** The operator's rules, and the network of this machine as it is at the moment of asking. */
export type TargetRules = {
  readonly allow: readonly AllowTarget[]
  readonly deny: readonly Cidr[]
  /** Domains of this network: names below them are refused before they are resolved. */
  readonly internal: readonly string[]
  readonly own: () => OwnNetwork
}

/** A name with more is refused: each of them is judged, and an answer may hold thousands. */
const addressesMax = 64

/**
 * Decides whether a target may be reached as far as its text tells: port, literal address, internal name. Queries no
 * resolver. Throws `BLOCKED`.
 */
export const judgeText = (rules: TargetRules, target: Target, ownPort: number): void => {
  const { host, port } = target
  if (isBadPort(port)) throw blocked('the port is not fetched from')
  if (isAddress(host)) judgeAddress(host, { ...rules, own: rules.own(), ownPort }, target)
  else if (isInternalName(host, rules.internal) && !allowsName(rules.allow, host, port)) {
    throw blocked('the name is internal')
  }
}

/**
 * Decides whether a target may be reached, and at which addresses. One answer that may not be reached refuses the
 * target: a name that mixes public and private addresses is an attack or a mistake. Throws `BLOCKED` or `DNS_FAILED`.
 */
export const resolveTarget = async (
  { resolver, rules }: { readonly resolver: Resolver; readonly rules: TargetRules },
  target: Target,
  ownPort: number,
): Promise<readonly string[]> => {
  const { host, port } = target
  judgeText(rules, target, ownPort)
  if (isAddress(host)) return [host]
  const addresses = await (allowsName(rules.allow, host, port) ? resolver.lookup(host) : resolver.resolve(host))
  if (addresses.length === 0) throw new AppError('DNS_FAILED', { message: 'the name has no address' })
  if (addresses.length > addressesMax) throw blocked('the name has too many addresses')
  const judging = { ...rules, own: rules.own(), ownPort }
  for (const ip of addresses) judgeAddress(ip, judging, target)
  return addresses
}
