import type { Queue } from '#shared/queue/connection.ts'

/**
 * Acts on all, a few at a time, and answers the failures. One that fails keeps none of the others back; only where NATS is
 * away, so that none can succeed, the rest is left.
 */
export const actOnEach = async <T>(
  queue: Pick<Queue, 'isConnected'>,
  { all, atOnce }: { readonly all: readonly T[]; readonly atOnce: number },
  act: (one: T) => Promise<void>,
): Promise<unknown[]> => {
  const left = all.values()
  const failures: unknown[] = []
  const actor = async () => {
    for (const one of left) {
      try {
        await act(one)
      } catch (error) {
        failures.push(error)
        if (!queue.isConnected()) return
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, actor))
  return failures
}
