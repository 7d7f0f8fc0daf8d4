import type { Readable } from 'node:stream'

/** A part of an object, both ends included, in bytes. */
export type ByteRange = { readonly first: number; readonly last: number }

/** An object that a store did not delete; `reason` is the store's own code. */
export type NotDeleted = { readonly key: string; readonly reason: string }

/** An object, or a range of it, of `bytes` bytes. */
export type FoundObject = {
  readonly body: Readable
  readonly bytes: number
  /** Reads all of it at once and destroys `body`; absent if that is no cheaper than reading `body`. */
  readonly all?: () => Promise<Buffer>
}

/** Where images are kept. Keys come from `objects.ts`. Failures of the store throw `SERVICE_UNAVAILABLE`. */
export type ObjectStore = {
  /** Returns an address to which its holder may PUT this one object with `If-None-Match: *`, once, for at most seven days. */
  readonly signPut: (key: string, lifetimeSeconds: number) => Promise<string>
  /** Opens an object or a range of it; undefined if it does not exist, or ends before the range. */
  readonly get: (key: string, range?: ByteRange) => Promise<FoundObject | undefined>
  /** Stores bytes under a key that is new. For checks and tests; workers use signed addresses. */
  readonly put: (key: string, bytes: Uint8Array, mediaType: string) => Promise<void>
  /** Deletes objects; missing ones count as deleted. Returns those that the store refused to delete, and why. */
  readonly delete: (keys: readonly string[]) => Promise<readonly NotDeleted[]>
  /** Lists the keys that begin with `prefix` and sort after `after`, in the order of their characters. */
  readonly list: (prefix: string, after?: string) => AsyncIterable<string>
}
