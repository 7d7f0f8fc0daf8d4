import type { Readable } from 'node:stream'

/** A part of an object, both ends included, in bytes. */
export type ByteRange = { readonly first: number; readonly last: number }

/** An object that a store would not delete; `reason` is the store's own word. */
export type NotDeleted = { readonly key: string; readonly reason: string }

/** An object that is there, or a part of it, of which `bytes` come. */
export type FoundObject = {
  readonly body: Readable
  readonly bytes: number
  /** Reads it at once, in place of `body`, which is destroyed; absent where the store has no cheaper way than that. */
  readonly all?: () => Promise<Buffer>
}

/** Where images are kept. Keys come from `objects.ts`. Failures of the store throw `SERVICE_UNAVAILABLE`. */
export type ObjectStore = {
  /** An address to which whoever holds it may PUT this one object with `If-None-Match: *`, once, for at most seven days. */
  readonly signPut: (key: string, lifetimeSeconds: number) => Promise<string>
  /** An object or a range of it; undefined where there is no such object. */
  readonly get: (key: string, range?: ByteRange) => Promise<FoundObject | undefined>
  /** Stores bytes under a key that is new. For checks and tests; workers use signed addresses. */
  readonly put: (key: string, bytes: Uint8Array, mediaType: string) => Promise<void>
  /** Deletes objects; those that are gone already count as deleted. Answers those that the store refused to delete, and why. */
  readonly delete: (keys: readonly string[]) => Promise<readonly NotDeleted[]>
  /** Keys that begin with `prefix` and come after `after`, in the order of their characters. */
  readonly list: (prefix: string, after?: string) => AsyncIterable<string>
}
