import type { Socket } from 'node:net'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import type { CallersProxy } from '#shared/net/callers-proxy.ts'
import { askHttpProxy } from './callers-proxy/ask-http-proxy.ts'
import { askSocks5Proxy } from './callers-proxy/ask-socks5-proxy.ts'
import type { Egress } from './context.ts'
import { dial } from './dial.ts'
import { dialThrough } from './dial-through.ts'
import { handshake } from '#shared/net/handshake.ts'
import type { Route, Target } from './target/parse-target.ts'
import { judgeText, resolveTarget } from './target/resolve-target.ts'

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

/** Names the proxy as the cause. A proxy without an address is no DNS failure of the page. */
const ofProxy = (thrown: unknown): AppError => {
  const { code, message } = toAppError(thrown)
  return new AppError(code === 'DNS_FAILED' ? 'CONNECTION_FAILED' : code, {
    message: `the caller's proxy: ${message}`,
    cause: thrown,
  })
}

/**
 * Opens a connection to a caller's proxy, which is judged as any target is. The page is judged by its text
 * alone: the proxy resolves its name. Throws an AppError with the reason where there is none.
 */
export const connectProxy = async (egress: Egress, { target, proxy, ownPort }: ProxyRoute): Promise<Socket> => {
  judgeText(egress.rules, target, ownPort)
  try {
    return await connectTo(egress, proxy, ownPort)
  } catch (thrown) {
    throw ofProxy(thrown)
  }
}

const tunnelThrough = async (egress: Egress, route: ProxyRoute): Promise<Socket> => {
  const { target, proxy } = route
  const upstream = await connectProxy(egress, route)
  const ask = proxy.kind === 'http' ? askHttpProxy : askSocks5Proxy
  try {
    await handshake(upstream, egress.bounds.connectMs, (line) => ask(line, proxy, target))
  } catch (thrown) {
    throw ofProxy(thrown)
  }
  return upstream
}

/**
 * Opens the one connection that a client's request gets: resolve, judge every answer, dial what was judged; through a
 * caller's proxy, and never around it, where there is one. Throws an AppError with the reason where there is none.
 */
export const connectUpstream = (egress: Egress, { target, proxy, ownPort }: Route): Promise<Socket> =>
  proxy === undefined ? connectTo(egress, target, ownPort) : tunnelThrough(egress, { target, proxy, ownPort })
