import type { Clock } from '#controller/kube/clock.ts'
import { controllerOf, type Stored } from './object.ts'
import { Refusal } from './refusal.ts'
import type { ModelServer, Target } from './server.ts'
import { keyIn, type StoreEvent } from './store.ts'

/** What the controllers behind the server work with. */
export type Backstage = {
  readonly server: ModelServer
  readonly clock: Clock
  readonly random: () => number
  /** Whether the server answers nobody, its own controllers included. */
  readonly isAway: () => boolean
  /** How long a controller takes to hear of a change and act. */
  readonly lagMs: () => number
}

/** A loop that brings about what should be so, key by key. */
export type Controller = {
  /** Has a key looked at after `waitMs`, or as soon as somebody would hear of a change. */
  readonly look: (key: string, waitMs?: number) => void
  /** Has everything looked at, as after a list. */
  readonly lookAtAll: () => void
}

/** Which kind a controller works on, which objects concern it, and how. */
export type ControllerOf = {
  readonly resource: string
  /** Kinds whose objects concern the key of the object that controls them. */
  readonly dependents?: readonly string[]
  /** Answers after how many milliseconds the key is to be looked at again, if at all. A refusal is tried again. */
  readonly sync: (key: string, object: Stored | undefined) => number | undefined
  /** Milliseconds before the first and the last retry of a key that was refused. */
  readonly retryMs?: { readonly first: number; readonly last: number }
}

const usualRetryMs = { first: 5, last: 1_000_000 }

/** The place of an object as a target of edits. */
export const targetOf = (server: ModelServer, object: Stored, subresource?: string): Target => {
  const { apiVersion, kind, metadata } = object
  const found = server.kindNamed(apiVersion, kind)
  return { kind: found, namespace: metadata.namespace, name: metadata.name, subresource }
}

/** The key of an object. */
export const keyOfStored = ({ metadata }: Stored): string => keyIn(metadata.namespace, metadata.name)

/** Starts a controller. It looks at each change after a lag, and at nothing while the server is away. */
export const startController = (backstage: Backstage, of: ControllerOf): Controller => {
  const { server, clock, isAway, lagMs } = backstage
  const { first, last } = of.retryMs ?? usualRetryMs
  const due = new Map<string, { readonly atMs: number; readonly timer: Disposable }>()
  const failures = new Map<string, number>()

  const look = (key: string, waitMs = lagMs()) => {
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
      const againMs = of.sync(key, server.store.get(of.resource, key))
      failures.delete(key)
      if (againMs !== undefined) look(key, againMs)
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown
      const count = failures.get(key) ?? 0
      failures.set(key, count + 1)
      look(key, Math.min(last, first * 2 ** count))
    }
  }
  const follow = (resource: string, { object }: StoreEvent) => {
    if (resource === of.resource) look(keyOfStored(object))
    const owner = of.dependents?.includes(resource) ? controllerOf(object) : undefined
    if (owner) look(keyIn(object.metadata.namespace, owner.name))
  }
  server.store.listen(follow)
  const lookAtAll = () => {
    for (const object of server.store.all(of.resource)) look(keyOfStored(object))
  }
  return { look, lookAtAll }
}

/** The objects of a kind that an object controls. */
export const controlledBy = (server: ModelServer, resource: string, { metadata }: Stored): readonly Stored[] =>
  server.store.all(resource).filter((object) => controllerOf(object)?.uid === metadata.uid)

/** What makes an object the controller of another. */
export const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: Stored) => ({
  ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
})
