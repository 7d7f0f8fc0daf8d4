/** Loads one record by its id; undefined if it does not exist. */
export type BatchedLoader<T> = (id: string) => Promise<T | undefined>

type Waiting<T> = Map<string, PromiseWithResolvers<T | undefined>>

/**
 * Combines many loads into one read. Reads begin at least `gapMs` apart; loads requested in between wait for the next read,
 * and fail with it.
 */
export const createBatchedLoader = <T extends { readonly id: string }>(
  read: (ids: readonly string[]) => Promise<readonly T[]>,
  gapMs: number,
): BatchedLoader<T> => {
  let waiting: Waiting<T> = new Map()
  let readAt = -Infinity

  const readAll = async () => {
    const batch = waiting
    waiting = new Map()
    readAt = performance.now()
    try {
      const found = await read([...batch.keys()])
      for (const [id, { resolve }] of batch) resolve(found.find((each) => each.id === id))
    } catch (error) {
      for (const { reject } of batch.values()) reject(error)
    }
  }

  return (id) => {
    if (waiting.size === 0) setTimeout(() => void readAll(), Math.max(0, readAt + gapMs - performance.now()))
    const load = waiting.get(id) ?? Promise.withResolvers<T | undefined>()
    waiting.set(id, load)
    return load.promise
  }
}
