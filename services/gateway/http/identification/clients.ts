import type { Cidr } from '#shared/policy/cidr.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { type Client, clientAddress, isTrusted } from './client-address.ts'

/** Finds out who sends requests. */
export type Clients = {
  readonly find: (exchange: Pick<Exchange, 'peerAddress' | 'headers'>) => Client
  /** The first address that sent an `X-Forwarded-For` and is not trusted; undefined where there was none. */
  readonly ignoredProxy: () => string | undefined
}

/** What an operator does about a proxy whose `X-Forwarded-For` is ignored. */
export const proxyAdvice = (peer: string): string =>
  `X-Forwarded-For from ${peer} ignored: if this is a reverse proxy of yours, set SHUTTERFLEET_TRUSTED_PROXIES, else all its clients share one rate limit`

/** `ignored` is called once, with the first address whose `X-Forwarded-For` was not used. */
export const createClients = (options: {
  readonly trustedProxies: readonly Cidr[]
  readonly ignored: (peer: string) => void
}): Clients => {
  const { trustedProxies } = options
  let ignoredProxy: string | undefined
  return {
    ignoredProxy: () => ignoredProxy,
    find: ({ peerAddress, headers }) => {
      const forwardedFor = headers['x-forwarded-for']?.toString()
      if (forwardedFor !== undefined && ignoredProxy === undefined && !isTrusted(peerAddress, trustedProxies)) {
        ignoredProxy = peerAddress ?? 'unknown'
        options.ignored(ignoredProxy)
      }
      return clientAddress(peerAddress, forwardedFor, trustedProxies)
    },
  }
}
