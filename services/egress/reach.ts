import type { Socket } from 'node:net'
import type { Egress } from './context.ts'
import { dial } from './dial.ts'
import type { Target } from './parse-target.ts'
import { resolveTarget } from './resolve-target.ts'

/**
 * Opens the one connection that a client's request gets: resolve, judge every answer, dial what was judged.
 * Throws an AppError that says why there is none. `ownPort` is the port that the client came in by.
 */
export const reach = async (egress: Egress, target: Target, ownPort: number): Promise<Socket> => {
  const addresses = await resolveTarget(egress, target, ownPort)
  const { connectMs, idleMs } = egress.bounds
  const upstream = await dial({ connect: egress.connect, connectMs }, addresses, target.port)
  upstream.setTimeout(idleMs)
  return upstream
}
