import { networkInterfaces } from 'node:os'
import { parseCidr } from '#shared/policy/cidr.ts'
import type { OwnNetwork } from './judge-address.ts'

/** The addresses of this machine's interfaces now, and their networks. A machine with a public address trusts itself and its neighbours more than it trusts a page. */
export const ownNetwork = (): OwnNetwork => {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return {
    addresses: new Set(interfaces.map(({ address }) => address)),
    networks: interfaces.map(({ cidr }) => parseCidr(cidr ?? '')).filter((network) => network !== undefined),
  }
}
