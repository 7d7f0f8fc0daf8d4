import { parseAddress } from '#shared/policy/cidr.ts'

/** The addresses that a hosts file (hosts(5)) gives to a normal name; `localhost` is loopback without an entry too (RFC 6761 §6.3). */
export const addressesInHosts = (hostsFile: string, name: string): readonly string[] => {
  const found = hostsFile.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const isIt = parseAddress(address) !== undefined && names.some((each) => each.toLowerCase() === name)
    return isIt ? [address] : []
  })
  return found.length === 0 && name === 'localhost' ? ['127.0.0.1', '::1'] : found
}
