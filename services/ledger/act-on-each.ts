import type { Queue } from '#shared/queue/connection.ts'

/**
 * Acts on all, `atOnce` at a time, and resolves to the failures. A failure does not stop the others, unless NATS is
 * disconnected, so that none can succeed.
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
