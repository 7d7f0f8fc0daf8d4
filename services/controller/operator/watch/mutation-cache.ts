import type { Clock } from '#shared/kube/clock.ts'
import { isNewer } from '#shared/kube/object-cache.ts'

/** Milliseconds after which a cache that does not show an own write is believed again. */
export const trustMs = 10_000

/** Longest time of one write, in milliseconds: given up before somebody else can lead with the usual Lease. */
export const requestMs = 4000

/** What this process wrote itself, where the cache lags behind. */
export type OwnWrites<T> = {
  /** Keeps what a write of the object `key` led to. */
  readonly remember: (key: string, version: string, value: T) => void
  /** What was written to the object last; undefined once the cache, which shows `cachedVersion` of it, is as new. */
  readonly newerThan: (key: string, cachedVersion: string | undefined) => T | undefined
  /** Forgets an object that is gone. */
  readonly forget: (key: string) => void
  /** How many are remembered; those that are trusted no longer go with the next that comes. */
  readonly size: () => number
}

/** Makes a memory of own writes, each of which is trusted for 10 s. */
export const createOwnWrites = <T>(clock: Clock): OwnWrites<T> => {
  const writes = new Map<string, { readonly version: string; readonly atMs: number; readonly value: T }>()
  /** Those that are trusted no longer stand first. Of what is gone nobody asks again. */
  const prune = () => {
    for (const [key, { atMs }] of writes) {
      if (clock.nowMs() - atMs < trustMs) return
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
      if (!isShown && clock.nowMs() - write.atMs < trustMs) return write.value
      writes.delete(key)
      return undefined
    },
    forget: (key) => void writes.delete(key),
  }
}
