import type { ClusterQueue } from './cluster-queue.ts'
import { eventually } from './eventually.ts'

/** The smallest size of a pool, as `size` reads it, until the first of the captures that run ends. */
export const smallestSizeWhileAllRun = async (
  size: () => Promise<number>,
  queue: Pick<ClusterQueue, 'unended'>,
): Promise<number> => {
  const running = queue.unended().length
  let smallest = Number.POSITIVE_INFINITY
  const anyEnded = async () => {
    const requested = await size()
    if (queue.unended().length < running) return true
    smallest = Math.min(smallest, requested)
    return false
  }
  await eventually(anyEnded, { withinMs: 60_000, what: 'a capture ends' })
  return smallest
}
