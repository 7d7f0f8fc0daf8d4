import type { Stored } from './object.ts'

/** One change of one object. `before` is the old state; for a deletion, `object` is the last state. */
export type StoreEvent = {
  readonly version: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Stored
  readonly before: Stored | undefined
}

/** A copy of the store at one moment. */
export type StoreSnapshot = {
  readonly version: number
  readonly kinds: ReadonlyMap<string, ReadonlyMap<string, Stored>>
}

type Listener = (resource: string, event: StoreEvent) => void

const historyMax = 2000

/** The key of an object within its kind. */
export const keyIn = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`

const keyOfStored = ({ metadata }: Stored): string => keyIn(metadata.namespace, metadata.name)

/** Objects by kind and key, with one revision that counts all changes, like etcd. */
export class ModelStore {
  #kinds = new Map<string, Map<string, Stored>>()
  /** Cached results of `all` by kind, dropped at each change. */
  readonly #sorted = new Map<string, readonly Stored[]>()
  #history = new Map<string, StoreEvent[]>()
  /** Events up to this version are compacted. */
  #forgotten = 0
  #version = 1
  readonly #listeners = new Set<Listener>()

  get version(): number {
    return this.#version
  }

  get(resource: string, key: string): Stored | undefined {
    return this.#kinds.get(resource)?.get(key)
  }

  /** All objects of a kind, in key order. */
  all(resource: string): readonly Stored[] {
    const objects = this.#kinds.get(resource) ?? new Map<string, Stored>()
    const sorted =
      this.#sorted.get(resource) ??
      [...objects].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object)
    this.#sorted.set(resource, sorted)
    return sorted
  }

  /** Creates or replaces an object, with the next version. */
  put(resource: string, object: Stored): Stored {
    const before = this.get(resource, keyOfStored(object))
    const stored = this.#versioned(object)
    this.#objectsOf(resource).set(keyOfStored(stored), stored)
    this.#tell(resource, { version: this.#version, type: before ? 'MODIFIED' : 'ADDED', object: stored, before })
    return stored
  }

  /** Removes an object; `object` is its state in the watch event. */
  remove(resource: string, object: Stored): void {
    const before = this.get(resource, keyOfStored(object))
    if (!before) return
    const last = this.#versioned(object)
    this.#objectsOf(resource).delete(keyOfStored(object))
    this.#tell(resource, { version: this.#version, type: 'DELETED', object: last, before })
  }

  /** Events of a kind after `version`; undefined if they are compacted. */
  since(resource: string, version: number): readonly StoreEvent[] | undefined {
    if (version < this.#forgotten) return undefined
    return (this.#history.get(resource) ?? []).filter((event) => event.version > version)
  }

  /** Drops all past events, as compaction does. */
  forget(): void {
    this.#history = new Map()
    this.#forgotten = this.#version
  }

  snapshot(): StoreSnapshot {
    return { version: this.#version, kinds: new Map([...this.#kinds].map(([name, all]) => [name, new Map(all)])) }
  }

  /** Restores all objects and versions. Emits no events: watchers have to list again. */
  restore({ version, kinds }: StoreSnapshot): void {
    this.#version = version
    this.#kinds = new Map([...kinds].map(([name, all]) => [name, new Map(all)]))
    this.#sorted.clear()
    this.forget()
  }

  /** Calls `listener` after each change. */
  listen(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  #versioned(object: Stored): Stored {
    this.#version += 1
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } }
  }

  #objectsOf(resource: string): Map<string, Stored> {
    const objects = this.#kinds.get(resource) ?? new Map<string, Stored>()
    this.#kinds.set(resource, objects)
    this.#sorted.delete(resource)
    return objects
  }

  #tell(resource: string, event: StoreEvent) {
    const history = this.#history.get(resource) ?? []
    history.push(event)
    if (history.length > historyMax) this.#forgotten = Math.max(this.#forgotten, history.shift()?.version ?? 0)
    this.#history.set(resource, history)
    for (const listener of this.#listeners) listener(resource, event)
  }
}
