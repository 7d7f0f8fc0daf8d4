import { existsSync } from 'node:fs'
import { parsed, type Setting } from './setting.ts'

/** The kernel has this file unless it runs without IPv6 (`ipv6.disable=1`); addresses of IPv6 are not needed for `::`. */
const ipv6File = '/proc/net/if_inet6'

/** The address to listen on: without brackets, and `0.0.0.0` for `::` if the kernel has no IPv6. */
export const listenAddress = (text: string, hasIpv6 = existsSync(ipv6File)): string => {
  const host = text.replace(/^\[(.*)\]$/, '$1')
  return host === '::' && !hasIpv6 ? '0.0.0.0' : host
}

/** An address to listen on, by default that of this machine alone. */
export const listenHost = (name: string, help: string): Setting<string> =>
  parsed(
    name,
    {
      help: `${help}; :: for every address of IPv4 and IPv6`,
      kind: 'address',
      problem: 'must be an address such as 127.0.0.1, ::1 or ::',
      fallback: '127.0.0.1',
    },
    (value) => listenAddress(value) || undefined,
  )
