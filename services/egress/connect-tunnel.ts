import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { toAppError } from '#shared/errors/app-error.ts'
import { captureOf } from './capture-of.ts'
import type { Egress } from './context.ts'
import { parseAuthority, type Target } from './parse-target.ts'
import { reach } from './reach.ts'
import { refuseTunnel } from './refuse.ts'
import { splice } from './splice.ts'

/** A client's CONNECT: its request, its socket, and what it sent beyond the request. */
export type TunnelRequest = { readonly request: IncomingMessage; readonly client: Socket; readonly head: Buffer }

/**
 * Serves one CONNECT: a tunnel to the judged target, or a refusal. Resolves when the tunnel is over or the refusal is
 * written; never throws.
 */
export const connectTunnel = async (egress: Egress, { request, client, head }: TunnelRequest): Promise<void> => {
  const seen = { kind: 'tunnel', capture: captureOf(request) } as const
  let target: Target | undefined
  try {
    target = parseAuthority(request.url ?? '')
    const upstream = await reach(egress, target, client.localPort ?? 0)
    egress.events.opened({ ...seen, host: target.host })
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    client.unshift(head)
    const passed = await splice(client, upstream, egress.bounds.connectionBytesMax)
    egress.events.ended({ ...seen, host: target.host }, passed)
  } catch (thrown) {
    const error = toAppError(thrown)
    egress.events.refused({ ...seen, host: target?.host }, error)
    refuseTunnel(client, error)
  }
}
