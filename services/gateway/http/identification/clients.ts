import { type Cidr, inAny } from '#shared/policy/cidr.ts'
import { type Client, clientAt, parseHop } from '#shared/policy/client.ts'
import type { Exchange } from '#gateway/http/exchange.ts'

/** Whether a connection comes from a proxy whose `X-Forwarded-For` is used. */
const isTrusted = (peer: string | undefined, trusted: readonly Cidr[]): boolean => {
  const address = parseHop(peer ?? '')
  return address !== undefined && inAny(trusted, address)
}

/**
 * The client of a request: the address of the connection, unless that is a trusted proxy; then the rightmost entry of
 * `X-Forwarded-For` that is not a trusted proxy. Entries left of it, or of an invalid entry, cannot be trusted.
 */
export const clientAddress = (
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: readonly Cidr[],
): Client => {
  let client = parseHop(peer ?? '')
  const hops = forwardedFor?.split(',') ?? []
  while (client && hops.length > 0 && inAny(trusted, client)) {
    const next = parseHop(hops.pop() ?? '')
    if (!next) break
    client = next
  }
  return clientAt(client)
}

/** Determines the clients of requests. */
export type Clients = {
  readonly find: (exchange: Pick<Exchange, 'peerAddress' | 'headers'>) => Client
  /** The first untrusted address that sent an `X-Forwarded-For`; undefined if there was none. */
  readonly ignoredProxy: () => string | undefined
}

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
