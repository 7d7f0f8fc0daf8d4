import type { Socket } from 'node:net'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import type { CallersProxy } from '#shared/net/callers-proxy.ts'
import { requestHttpTunnel } from './callers-proxy/request-http-tunnel.ts'
import { requestSocks5Tunnel } from './callers-proxy/request-socks5-tunnel.ts'
import type { Egress } from './context.ts'
import { dial } from './dial.ts'
import { dialThrough } from './dial-through.ts'
import { handshake } from '#shared/net/handshake.ts'
import type { Route, Target } from './target/parse-target.ts'
import { checkTargetWithoutDns, resolveTarget } from './target/resolve-target.ts'

/** A route through a caller's proxy. */
type ProxyRoute = Route & { readonly proxy: CallersProxy }

const connectTo = async (egress: Egress, target: Target, ownPort: number): Promise<Socket> => {
  const addresses = await resolveTarget(egress, target, ownPort)
  const { connectMs, idleMs } = egress.bounds
  const upstream = await (egress.upstream
    ? dialThrough({ ...egress, connectMs, proxy: egress.upstream }, addresses, target.port)
    : dial({ connect: egress.connect, connectMs }, addresses, target.port))
  upstream.setTimeout(idleMs)
  return upstream
}

/** Attributes an error to the proxy. A proxy's name that does not resolve is no DNS failure of the page. */
const toProxyError = (thrown: unknown): AppError => {
  const { code, message } = toAppError(thrown)
  return new AppError(code === 'DNS_FAILED' ? 'CONNECTION_FAILED' : code, {
    message: `the caller's proxy: ${message}`,
    cause: thrown,
  })
}

/**
 * Opens a connection to a caller's proxy, which is checked like any target. The page's target is checked without resolving it,
 * because the proxy resolves its name. Throws an AppError with the reason if it fails.
 */
export const connectProxy = async (egress: Egress, { target, proxy, ownPort }: ProxyRoute): Promise<Socket> => {
  checkTargetWithoutDns(egress.rules, target, ownPort)
  try {
    return await connectTo(egress, proxy, ownPort)
  } catch (thrown) {
    throw toProxyError(thrown)
  }
}

const tunnelThrough = async (egress: Egress, route: ProxyRoute): Promise<Socket> => {
  const { target, proxy } = route
  const upstream = await connectProxy(egress, route)
  const requestTunnel = proxy.kind === 'http' ? requestHttpTunnel : requestSocks5Tunnel
  try {
    await handshake(upstream, egress.bounds.connectMs, (line) => requestTunnel(line, proxy, target))
  } catch (thrown) {
    throw toProxyError(thrown)
  }
  return upstream
}

/**
 * Opens the upstream connection of a client's request: resolves the target, checks every address and dials checked ones; if the
 * caller named a proxy, only through it. Throws an AppError with the reason if it fails.
 */
export const connectUpstream = (egress: Egress, { target, proxy, ownPort }: Route): Promise<Socket> =>
  proxy === undefined ? connectTo(egress, target, ownPort) : tunnelThrough(egress, { target, proxy, ownPort })
