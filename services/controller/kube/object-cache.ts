import type { WatchEvent } from '#shared/kube/client.ts'
import { objectKey, type KubeObject } from '#shared/kube/resource.ts'

/** A change of one object. */
export type Change<T> =
  | { readonly kind: 'added' | 'updated'; readonly key: string; readonly object: T }
  /** `object` is its last observed state. */
  | { readonly kind: 'deleted'; readonly key: string; readonly object: T }

type ObjectEvent<T> = Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>

const deletedMax = 10_000

/**
 * Objects of one kind by key, built from lists and watch events. If versions are comparable, an event that is not newer than the
 * cached version is ignored: duplicate and late events are harmless, even after a deletion.
 */
export class ObjectCache<T extends KubeObject> {
  #objects = new Map<string, T>()
  /** Versions at which objects were deleted since the last list; at most 10 000, the oldest are dropped. */
  readonly #deleted = new Map<string, string>()

  get(key: string): T | undefined {
    return this.#objects.get(key)
  }

  all(): readonly T[] {
    return [...this.#objects.values()]
  }

  /** Replaces the content by `items`, whatever their versions. Returns the changes. */
  replace(items: readonly T[]): Change<T>[] {
    const before = this.#objects
    this.#objects = new Map(items.map((object) => [objectKey(object), object]))
    this.#deleted.clear()
    const gone = [...before].filter(([key]) => !this.#objects.has(key))
    const present = [...this.#objects].flatMap(([key, object]): Change<T>[] => {
      const old = before.get(key)
      if (!old) return [{ kind: 'added', key, object }]
      return isSame(old, object) ? [] : [{ kind: 'updated', key, object }]
    })
    return [...gone.map(([key, object]): Change<T> => ({ kind: 'deleted', key, object })), ...present]
  }

  /** Applies one event. Returns undefined if nothing changed. */
  apply({ type, object }: ObjectEvent<T>): Change<T> | undefined {
    const key = objectKey(object)
    const known = this.#objects.get(key)
    const version = known ? versionOf(known) : this.#deleted.get(key)
    if (version !== undefined && !isNewer(versionOf(object), version)) return undefined
    if (type === 'DELETED') {
      this.#objects.delete(key)
      this.#remember(key, versionOf(object))
      return known && { kind: 'deleted', key, object }
    }
    this.#objects.set(key, object)
    this.#deleted.delete(key)
    return { kind: known ? 'updated' : 'added', key, object }
  }

  #remember(key: string, version: string) {
    this.#deleted.set(key, version)
    if (this.#deleted.size <= deletedMax) return
    const [oldest = ''] = this.#deleted.keys()
    this.#deleted.delete(oldest)
  }
}

const versionOf = ({ metadata }: KubeObject): string => metadata?.resourceVersion ?? ''

const isSame = (one: KubeObject, other: KubeObject): boolean =>
  one.metadata?.uid === other.metadata?.uid && versionOf(one) === versionOf(other)

/**
 * Whether a resourceVersion is later than another of the same kind of object. Decimal numbers are compared as such
 * (KEP-5504); of other formats, any different version counts as newer.
 */
export const isNewer = (version: string, than: string): boolean =>
  /^\d+$/.test(version) && /^\d+$/.test(than) ? BigInt(version) > BigInt(than) : version !== than
