import type { Socket } from 'node:net'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import type { CallersProxy } from '#shared/net/callers-proxy.ts'
import { requestHttpTunnel } from '#egress/callers-proxy/request-http-tunnel.ts'
import { requestSocks5Tunnel } from '#egress/callers-proxy/request-socks5-tunnel.ts'
import type { UpstreamProxy } from '#shared/config/settings/egress.ts'
import { type Connect, dial } from './dial.ts'
import { dialThrough } from './dial-through.ts'
import { handshake } from '#shared/net/handshake.ts'
import type { Route, Target } from '#egress/target/parse-target.ts'
import { DeniedTarget } from '#egress/target/check-lists.ts'
import {
  checkTargetWithoutDns,
  type ClientRules,
  resolveTarget,
  type Resolver,
  type TargetRules,
} from '#egress/target/resolve-target.ts'

/** What a connection to a target needs. */
export type UpstreamDependencies = {
  readonly resolver: Resolver
  readonly rules: TargetRules
  readonly connect: Connect
  /** The operator's proxy, through which every connection goes; undefined: directly. */
  readonly upstream: UpstreamProxy | undefined
  /** Bounds of one connection, in milliseconds and bytes. */
  readonly bounds: { readonly connectMs: number; readonly idleMs: number; readonly connectionBytesMax: number }
}

/** A route through a caller's proxy. */
type ProxyRoute = Route & { readonly proxy: CallersProxy }

const connectTo = async (dependencies: UpstreamDependencies, target: Target, client: ClientRules): Promise<Socket> => {
  const addresses = await resolveTarget(dependencies, target, client)
  const { connectMs, idleMs } = dependencies.bounds
  const upstream = await (dependencies.upstream
    ? dialThrough({ ...dependencies, connectMs, proxy: dependencies.upstream }, addresses, target.port)
    : dial({ connect: dependencies.connect, connectMs }, addresses, target.port))
  upstream.setTimeout(idleMs)
  return upstream
}

/** Attributes an error to the proxy. A proxy's name that does not resolve is no DNS failure of the page. */
const toProxyError = (thrown: unknown): AppError => {
  const { code, message } = toAppError(thrown)
  if (thrown instanceof DeniedTarget) return new DeniedTarget(thrown.owner, `the caller's proxy: ${message}`)
  return new AppError(code === 'DNS_FAILED' ? 'CONNECTION_FAILED' : code, {
    message: `the caller's proxy: ${message}`,
    cause: thrown,
  })
}

/**
 * Opens a connection to a caller's proxy, which is checked like any target. The page's target is checked without resolving it,
 * because the proxy resolves its name. Throws an AppError with the reason if it fails.
 */
export const connectProxy = async (
  dependencies: UpstreamDependencies,
  { target, proxy, ...client }: ProxyRoute,
): Promise<Socket> => {
  checkTargetWithoutDns(dependencies.rules, target, client)
  try {
    return await connectTo(dependencies, proxy, client)
  } catch (thrown) {
    throw toProxyError(thrown)
  }
}

const tunnelThrough = async (dependencies: UpstreamDependencies, route: ProxyRoute): Promise<Socket> => {
  const { target, proxy } = route
  const upstream = await connectProxy(dependencies, route)
  const requestTunnel = proxy.kind === 'http' ? requestHttpTunnel : requestSocks5Tunnel
  try {
    await handshake(upstream, dependencies.bounds.connectMs, (line) => requestTunnel(line, proxy, target))
  } catch (thrown) {
    throw toProxyError(thrown)
  }
  return upstream
}

/**
 * Opens the upstream connection of a client's request: resolves the target, checks every address and dials checked ones; if the
 * caller named a proxy, only through it. Throws an AppError with the reason if it fails.
 */
export const connectUpstream = (
  dependencies: UpstreamDependencies,
  { target, proxy, ...client }: Route,
): Promise<Socket> =>
  proxy === undefined
    ? connectTo(dependencies, target, client)
    : tunnelThrough(dependencies, { target, proxy, ...client })
