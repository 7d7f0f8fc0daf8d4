import type { Socket } from 'node:net'
import type { UpstreamProxy } from '#shared/config/settings/egress.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { handshake } from '#shared/net/handshake.ts'
import { isAddress } from '#shared/policy/host.ts'
import { requestHttpTunnel, TunnelRefused } from '#egress/callers-proxy/request-http-tunnel.ts'
import { dial, type DialOptions, tryEach } from './dial.ts'
import { blockedError } from '#egress/target/check-address.ts'
import { translatedAddresses } from '#egress/target/nat64.ts'
import type { Resolver, TargetRules } from '#egress/target/resolve-target.ts'

/** How addresses are dialled through the operator's proxy: all of them together within twice `connectMs`. */
type ProxyOptions = DialOptions & {
  readonly resolver: Pick<Resolver, 'lookup'>
  readonly rules: Pick<TargetRules, 'nat64'>
  readonly proxy: UpstreamProxy
}

/** The proxy's refusal of an address is the target's error; an unreachable proxy or rejected credentials are our own fault. */
const toUpstreamError = (thrown: unknown, { isProxyUnreachable = false } = {}): AppError => {
  const { code, message } = toAppError(thrown)
  const isUpstreamProxyFault = isProxyUnreachable || (thrown instanceof TunnelRefused && thrown.status === 407)
  // Omits `cause`: if it were a TunnelRefused, `connectTunnel` would serve plain requests, whose host the proxy would resolve itself.
  return new AppError(isUpstreamProxyFault ? 'SERVICE_UNAVAILABLE' : code, {
    message: `the upstream proxy (SHUTTERFLEET_EGRESS_UPSTREAM_PROXY): ${message}`,
  })
}

/** Whether one of the addresses, or the IPv4 address that NAT64 translates it to, is the proxy's. */
const isProxy = async (proxies: readonly string[], addresses: readonly string[], { nat64 }: ProxyOptions['rules']) => {
  const prefixes = addresses.some((ip) => ip.includes(':')) ? await nat64() : []
  return addresses.some((ip) => [ip, ...translatedAddresses(ip, prefixes ?? [])].some((each) => proxies.includes(each)))
}

/**
 * Opens a tunnel through the operator's proxy to the first checked address that the proxy reaches. The proxy gets addresses and
 * never a name, because addresses that it resolved itself would not be checked. Throws `BLOCKED` if an address is the proxy's
 * own, `SERVICE_UNAVAILABLE` if the proxy is unreachable or rejects the credentials, otherwise the last address's `TIMEOUT` or
 * `CONNECTION_FAILED`.
 */
export const dialThrough = async (
  { proxy, resolver, rules, ...dialling }: ProxyOptions,
  addresses: readonly string[],
  port: number,
): Promise<Socket> => {
  const proxies = isAddress(proxy.host) ? [proxy.host] : await resolver.lookup(proxy.host)
  if (port === proxy.port && (await isProxy(proxies, addresses, rules))) {
    throw blockedError('the address is the upstream proxy')
  }
  return tryEach(addresses, dialling.connectMs, async (host, connectMs) => {
    const socket = await dial({ ...dialling, connectMs }, proxies, proxy.port).catch((thrown: unknown) => {
      throw toUpstreamError(thrown, { isProxyUnreachable: true })
    })
    await handshake(socket, connectMs, (line) => requestHttpTunnel(line, proxy, { host, port })).catch(
      (thrown: unknown) => {
        throw toUpstreamError(thrown)
      },
    )
    return socket
  })
}
