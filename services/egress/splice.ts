import type { Socket } from 'node:net'
import { joinSockets } from '#shared/net/join-sockets.ts'
import { boundConnection, type End } from './bound-connection.ts'

/** Once one end has said all, the other may stay silent this long. */
const halfOpenMs = 10_000

/**
 * Carries bytes both ways until both ends have closed. `upstream` carries the idle time-out. Both are destroyed when this
 * resolves; never throws.
 */
export const splice = async (
  client: Socket,
  upstream: Socket,
  bytesMax: number,
): Promise<{ readonly end: End; readonly bytes: number }> => {
  const bounded = boundConnection(upstream, bytesMax)
  const halfOpen = () => upstream.setTimeout(Math.min(halfOpenMs, upstream.timeout ?? halfOpenMs))
  upstream.once('end', halfOpen)
  client.once('end', halfOpen)
  const joined = joinSockets(client, upstream)
  bounded.count(client)
  bounded.count(upstream)
  return bounded.passed(!(await joined))
}
