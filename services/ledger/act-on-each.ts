import type { Queue } from '#shared/queue/connection.ts'

/**
 * Calls `act` for all items, `concurrency` at a time, and resolves to the errors. An error stops the others only if NATS is
 * disconnected, so that none can succeed.
 */
export const actOnEach = async <T>(
  queue: Pick<Queue, 'isConnected'>,
  { all, concurrency }: { readonly all: readonly T[]; readonly concurrency: number },
  act: (one: T) => Promise<void>,
): Promise<unknown[]> => {
  const left = all.values()
  const failures: unknown[] = []
  const runner = async () => {
    for (const one of left) {
      try {
        await act(one)
      } catch (error) {
        failures.push(error)
        if (!queue.isConnected()) return
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, runner))
  return failures
}
