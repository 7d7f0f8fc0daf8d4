import type { Lane } from '#shared/capture/lane.ts'

/** Bounds and default of the objective of lane `interactive`, in milliseconds. */
export const queueWait = { minimum: 100, maximum: 600_000, default: 2000 } as const
/** Bounds of the objectives of the lower lanes, in milliseconds. */
export const lowerQueueWait = { minimum: 100, maximum: 3_600_000 } as const
/** The objective of lane `normal` in milliseconds, if that of `interactive` is not longer. */
export const normalWaitMs = 10_000
/** The objective of lane `bulk` in milliseconds, if that of `normal` is not longer. */
export const bulkWaitMs = 120_000

/**
 * Longest time in milliseconds that a capture of each lane should wait for a worker. A lower lane's default is never shorter than
 * the objective of the lane above it.
 */
export const laneObjectivesMs = (objectives: {
  readonly queueWaitMs: number
  readonly normalQueueWaitMs?: number | undefined
  readonly bulkQueueWaitMs?: number | undefined
}): Readonly<Record<Lane, number>> => {
  const interactive = objectives.queueWaitMs
  const normal = objectives.normalQueueWaitMs ?? Math.max(interactive, normalWaitMs)
  return { interactive, normal, bulk: objectives.bulkQueueWaitMs ?? Math.max(normal, bulkWaitMs) }
}
