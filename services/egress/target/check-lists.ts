import { AppError } from '#shared/errors/app-error.ts'
import {
  checkAddresses,
  checkName,
  describeViolation,
  type TargetLists,
  type TargetViolation,
} from '#shared/policy/target-lists.ts'
import { translatedAddresses } from './nat64.ts'
import type { Target } from './parse-target.ts'
import type { Cidr } from '#shared/policy/cidr.ts'
import { isAddress } from '#shared/policy/host.ts'

/** Whose lists of targets refuse a target. */
export type ListOwner = 'account' | 'installation'

/** The lists that a connection is checked against. */
export type ListsByOwner = Readonly<Record<ListOwner, TargetLists>>

/** A target that the lists of an account or of the installation refuse. */
export class DeniedTarget extends AppError {
  readonly owner: ListOwner
  constructor(owner: ListOwner, message: string) {
    super('BLOCKED', { message })
    this.owner = owner
  }
}

const owners = ['installation', 'account'] as const

const assertEach = (lists: ListsByOwner, find: (lists: TargetLists) => TargetViolation | undefined): void => {
  for (const owner of owners) {
    const violation = find(lists[owner])
    if (violation) throw new DeniedTarget(owner, `the target ${describeViolation(violation, `the ${owner}`)}`)
  }
}

/** Throws `DeniedTarget` if the lists refuse a name; see `checkName`. Addresses are left to `assertAddressesListed`. */
export const assertNameListed = (lists: ListsByOwner, target: Target, how: { isResolvedLater: boolean }): void => {
  if (!isAddress(target.host)) assertEach(lists, (each) => checkName(each, target, how))
}

/** Throws `DeniedTarget` if the lists refuse the addresses of a target, or those that NAT64 translates them to. */
export const assertAddressesListed = (
  lists: ListsByOwner,
  target: Target,
  { addresses, nat64 }: { readonly addresses: readonly string[]; readonly nat64: readonly Cidr[] },
): void => {
  const forms = addresses.map((ip) => [ip, ...translatedAddresses(ip, nat64)])
  assertEach(lists, (each) => checkAddresses(each, target, forms))
}
