import type { Clock } from '#controller/kube/clock.ts'
import { isNewer } from '#controller/kube/object-cache.ts'

/** Milliseconds for which a write counts while the informer does not show it. */
export const mutationTtlMs = 10_000

/** Timeout of a write in milliseconds: shorter than the default Lease, so that it ends before another process leads. */
export const requestMs = 4000

/** The latest writes of this process, read while the informer lags behind; like client-go's mutation cache. */
export type MutationCache<T> = ReturnType<typeof createMutationCache<T>>

/** Creates an empty cache; each write counts for 10 s. */
export const createMutationCache = <T>(clock: Clock) => {
  const writes = new Map<string, { readonly version: string; readonly atMs: number; readonly value: T }>()
  /** Removes expired writes, the first in the map: no read would remove those of deleted objects. */
  const prune = () => {
    for (const [key, { atMs }] of writes) {
      if (clock.nowMs() - atMs < mutationTtlMs) return
      writes.delete(key)
    }
  }
  return {
    /** Keeps the result of a write of the object `key`. */
    remember: (key: string, version: string, value: T): void => {
      prune()
      writes.delete(key)
      writes.set(key, { version, atMs: clock.nowMs(), value })
    },
    /** Number of cached writes; expired ones are removed at the next write. */
    size: (): number => writes.size,
    /** The last write of the object; undefined once it has expired or the informer's `cachedVersion` is as new. */
    newerThan: (key: string, cachedVersion: string | undefined): T | undefined => {
      const write = writes.get(key)
      if (!write) return undefined
      const isObserved = cachedVersion !== undefined && !isNewer(write.version, cachedVersion)
      if (!isObserved && clock.nowMs() - write.atMs < mutationTtlMs) return write.value
      writes.delete(key)
      return undefined
    },
    /** Removes the write of a deleted object. */
    forget: (key: string) => void writes.delete(key),
  }
}
