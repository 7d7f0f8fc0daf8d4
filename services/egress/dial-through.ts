import type { Socket } from 'node:net'
import type { UpstreamProxy } from '#shared/config/settings/egress.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { handshake } from '#shared/net/handshake.ts'
import { isAddress } from '#shared/policy/host.ts'
import { askHttpProxy, TunnelRefused } from './callers-proxy/ask-http-proxy.ts'
import { dial, type Dialling, tryEach } from './dial.ts'
import { blocked } from './target/judge-address.ts'
import { translated } from './target/nat64.ts'
import type { Resolver, TargetRules } from './target/resolve-target.ts'

/** How addresses are dialled through the operator's proxy: all of them together within twice `connectMs`. */
type ProxyDialling = Dialling & {
  readonly resolver: Pick<Resolver, 'lookup'>
  readonly rules: Pick<TargetRules, 'nat64'>
  readonly proxy: UpstreamProxy
}

/** The proxy's answer about an address is the target's error; an unreachable proxy, or one that rejects its credentials, is a fault of ours. */
const ofUpstream = (thrown: unknown, fault?: 'fault'): AppError => {
  const { code, message } = toAppError(thrown)
  const isOurs = fault !== undefined || (thrown instanceof TunnelRefused && thrown.status === 407)
  // No cause: a refused tunnel is the end here, and never a plain request, whose host the proxy would resolve itself.
  return new AppError(isOurs ? 'SERVICE_UNAVAILABLE' : code, {
    message: `the upstream proxy (SHUTTERFLEET_EGRESS_UPSTREAM_PROXY): ${message}`,
  })
}

/** Whether a connection to one of the addresses, or to the IPv4 address that the network translates it to, is one to the proxy. */
const leadsTo = async (proxies: readonly string[], addresses: readonly string[], { nat64 }: ProxyDialling['rules']) => {
  const prefixes = addresses.some((ip) => ip.includes(':')) ? await nat64() : []
  return addresses.some((ip) => [ip, ...translated(ip, prefixes ?? [])].some((each) => proxies.includes(each)))
}

/**
 * Has the operator's proxy make a tunnel to the first of the judged addresses that it reaches. It gets addresses and never
 * a name: what it resolved itself nobody would have judged. Throws `BLOCKED` where an address is the proxy's own,
 * `SERVICE_UNAVAILABLE` where it is unreachable or rejects the credentials, else the last address's `TIMEOUT` or
 * `CONNECTION_FAILED`.
 */
export const dialThrough = async (
  { proxy, resolver, rules, ...dialling }: ProxyDialling,
  addresses: readonly string[],
  port: number,
): Promise<Socket> => {
  const proxies = isAddress(proxy.host) ? [proxy.host] : await resolver.lookup(proxy.host)
  if (port === proxy.port && (await leadsTo(proxies, addresses, rules))) {
    throw blocked('the address is the upstream proxy')
  }
  return tryEach(addresses, dialling.connectMs, async (host, connectMs) => {
    const socket = await dial({ ...dialling, connectMs }, proxies, proxy.port).catch((thrown: unknown) => {
      throw ofUpstream(thrown, 'fault')
    })
    await handshake(socket, connectMs, (line) => askHttpProxy(line, proxy, { host, port })).catch((thrown: unknown) => {
      throw ofUpstream(thrown)
    })
    return socket
  })
}
