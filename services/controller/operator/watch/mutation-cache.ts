import type { Clock } from '#controller/kube/clock.ts'
import { isNewer } from '#controller/kube/object-cache.ts'

/** Milliseconds for which a write counts that the informer does not show. */
export const mutationTtlMs = 10_000

/** Longest time of one write, in milliseconds: shorter than the usual Lease, so that it ends before another can lead. */
export const requestMs = 4000

/** The latest writes of this process, where the informer lags behind; as client-go's mutation cache. */
export type MutationCache<T> = {
  /** Keeps the result of a write of the object `key`. */
  readonly remember: (key: string, version: string, value: T) => void
  /** The last write of the object; undefined once the informer, which shows `cachedVersion`, is as new. */
  readonly newerThan: (key: string, cachedVersion: string | undefined) => T | undefined
  /** Forgets an object that is gone. */
  readonly forget: (key: string) => void
  /** Writes that are kept; expired ones are removed at the next write. */
  readonly size: () => number
}

/** Creates an empty cache; each write counts for 10 s. */
export const createMutationCache = <T>(clock: Clock): MutationCache<T> => {
  const writes = new Map<string, { readonly version: string; readonly atMs: number; readonly value: T }>()
  /** Expired ones stand first. Those of deleted objects are never read again. */
  const prune = () => {
    for (const [key, { atMs }] of writes) {
      if (clock.nowMs() - atMs < mutationTtlMs) return
      writes.delete(key)
    }
  }
  return {
    remember: (key, version, value) => {
      prune()
      writes.delete(key)
      writes.set(key, { version, atMs: clock.nowMs(), value })
    },
    size: () => writes.size,
    newerThan: (key, cachedVersion) => {
      const write = writes.get(key)
      if (!write) return undefined
      const isShown = cachedVersion !== undefined && !isNewer(write.version, cachedVersion)
      if (!isShown && clock.nowMs() - write.atMs < mutationTtlMs) return write.value
      writes.delete(key)
      return undefined
    },
    forget: (key) => void writes.delete(key),
  }
}
