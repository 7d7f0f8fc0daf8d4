import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { toAppError } from '#shared/errors/app-error.ts'
import { captureOf } from './capture-of.ts'
import type { Egress } from './context.ts'
import { seenOf } from './events.ts'
import { parseAuthority, type Route } from './target/parse-target.ts'
import { mayTakePlain } from './callers-proxy/ask-http-proxy.ts'
import { proxyOf } from './callers-proxy/proxy-of.ts'
import { connectUpstream } from './connect-upstream.ts'
import { refuseTunnel } from './refuse.ts'
import { servePlain } from './serve-plain.ts'
import { splice } from './splice.ts'

const established = 'HTTP/1.1 200 Connection established\r\n\r\n'

/** A client's CONNECT: its request, its socket, and what it sent beyond the request. */
export type TunnelRequest = { readonly request: IncomingMessage; readonly client: Socket; readonly head: Buffer }

/**
 * Serves one CONNECT: a tunnel to the judged target or through the caller's proxy, plain requests where that proxy refuses
 * to make one, or a refusal. Resolves when the tunnel is over, requests are served or the refusal is written; never throws.
 */
export const connectTunnel = async (egress: Egress, { request, client, head }: TunnelRequest): Promise<void> => {
  const seen = { kind: 'tunnel', capture: captureOf(request) } as const
  let route: Route | undefined
  try {
    route = {
      target: parseAuthority(request.url ?? ''),
      proxy: proxyOf(request),
      ownPort: client.localPort ?? 0,
    }
    const upstream = await connectUpstream(egress, route)
    egress.events.opened({ ...seen, ...seenOf(route) })
    client.write(established)
    client.unshift(head)
    const passed = await splice(client, upstream, egress.bounds.connectionBytesMax)
    egress.events.ended({ ...seen, ...seenOf(route) }, passed)
  } catch (thrown) {
    const error = toAppError(thrown)
    if (route && mayTakePlain(error.cause, route.target)) {
      client.write(established)
      client.unshift(head)
      servePlain(egress, client, { route, capture: seen.capture })
      return
    }
    egress.events.refused({ ...seen, ...seenOf(route) }, error)
    refuseTunnel(client, error)
  }
}
