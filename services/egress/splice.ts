import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { boundConnection, type End } from './bound-connection.ts'

/** Once one end has said all, the other may stay silent this long. */
const halfOpenMs = 10_000

/**
 * Carries bytes both ways until both ends have closed, with back-pressure; each end's close is passed on to the other.
 * `upstream` carries the idle time-out. Both are destroyed when this resolves; never throws.
 */
export const splice = async (
  client: Duplex,
  upstream: Socket,
  bytesMax: number,
): Promise<{ readonly end: End; readonly bytes: number }> => {
  const bounded = boundConnection(upstream, bytesMax)
  const halfOpen = () => upstream.setTimeout(Math.min(halfOpenMs, upstream.timeout ?? halfOpenMs))
  upstream.once('end', halfOpen)
  client.once('end', halfOpen)
  const both = Promise.allSettled([pipeline(client, upstream), pipeline(upstream, client)])
  bounded.count(client)
  bounded.count(upstream)
  const results = await both
  client.destroy()
  upstream.destroy()
  return bounded.passed(results.some(({ status }) => status === 'rejected'))
}
