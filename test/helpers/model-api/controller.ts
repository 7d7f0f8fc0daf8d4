import type { Clock } from '#controller/kube/clock.ts'
import { controllerOf, type Stored } from './object.ts'
import { StatusError } from './status-error.ts'
import type { ModelServer, Target } from './server.ts'
import { keyIn, type StoreEvent } from './store.ts'

/** Dependencies of the server's controllers. */
export type ControllerDeps = {
  readonly server: ModelServer
  readonly clock: Clock
  readonly random: () => number
  /** Whether the server is unavailable, also to its own controllers. */
  readonly isAway: () => boolean
  /** Delay until a controller observes a change and acts. */
  readonly lagMs: () => number
}

/** A reconcile loop. */
export type Controller = {
  /** Reconciles a key after `waitMs`, by default after the lag of a change. */
  readonly enqueue: (key: string, waitMs?: number) => void
  /** Reconciles all keys, as after a list. */
  readonly enqueueAll: () => void
}

/** The kind that a controller reconciles, its dependents, and how. */
export type ControllerOf = {
  readonly resource: string
  /** Kinds whose changes trigger a reconcile of their controlling object. */
  readonly dependents?: readonly string[]
  /** Reconciles a key; returns the milliseconds until the next run, if any. A StatusError is retried. */
  readonly sync: (key: string, object: Stored | undefined) => number | undefined
  /** Milliseconds before the first retry, and the longest backoff. */
  readonly retryMs?: { readonly first: number; readonly last: number }
}

const defaultRetryMs = { first: 5, last: 1_000_000 }

/** The edit target for an object. */
export const targetOf = (server: ModelServer, object: Stored, subresource?: string): Target => {
  const { apiVersion, kind, metadata } = object
  const found = server.kindNamed(apiVersion, kind)
  return { kind: found, namespace: metadata.namespace, name: metadata.name, subresource }
}

export const keyOfStored = ({ metadata }: Stored): string => keyIn(metadata.namespace, metadata.name)

/** Starts a controller. It processes each change after a lag, and none while the server is unavailable. */
export const startController = (deps: ControllerDeps, definition: ControllerOf): Controller => {
  const { server, clock, isAway, lagMs } = deps
  const { first, last } = definition.retryMs ?? defaultRetryMs
  const due = new Map<string, { readonly atMs: number; readonly timer: Disposable }>()
  const failures = new Map<string, number>()

  const enqueue = (key: string, waitMs = lagMs()) => {
    const atMs = clock.nowMs() + waitMs
    const waiting = due.get(key)
    if (waiting && waiting.atMs <= atMs) return
    waiting?.timer[Symbol.dispose]()
    due.set(key, { atMs, timer: clock.after(waitMs, () => run(key)) })
  }
  const run = (key: string) => {
    due.delete(key)
    if (isAway()) return
    try {
      const againMs = definition.sync(key, server.store.get(definition.resource, key))
      failures.delete(key)
      if (againMs !== undefined) enqueue(key, againMs)
    } catch (thrown) {
      if (!(thrown instanceof StatusError)) throw thrown
      const count = failures.get(key) ?? 0
      failures.set(key, count + 1)
      enqueue(key, Math.min(last, first * 2 ** count))
    }
  }
  const follow = (resource: string, { object }: StoreEvent) => {
    if (resource === definition.resource) enqueue(keyOfStored(object))
    const owner = definition.dependents?.includes(resource) ? controllerOf(object) : undefined
    if (owner) enqueue(keyIn(object.metadata.namespace, owner.name))
  }
  server.store.listen(follow)
  const enqueueAll = () => {
    for (const object of server.store.all(definition.resource)) enqueue(keyOfStored(object))
  }
  return { enqueue, enqueueAll }
}

/** The objects of a kind that an object controls. */
export const controlledBy = (server: ModelServer, resource: string, { metadata }: Stored): readonly Stored[] =>
  server.store.all(resource).filter((object) => controllerOf(object)?.uid === metadata.uid)

/** The metadata that makes an object the controller of another. */
export const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: Stored) => ({
  ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
})
