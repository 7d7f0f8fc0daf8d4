import type { OperatorEvents } from '#controller/operator/events.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { WorkQueue } from '#controller/kube/work-queue.ts'
import type { ApplyChildren } from './children.ts'

/** What the queue works with. */
export type ChildQueueDeps = {
  readonly clock: Clock
  readonly apply: ApplyChildren
  /** The pool of this name, where its children are to be applied now. */
  readonly wanted: (name: string) => BrowserPool | undefined
  /** Changes with whatever may make a try end otherwise than the last one. */
  readonly desiredState: (name: string) => string
  /** Called after every try. */
  readonly tried: (name: string) => void
  readonly failed: OperatorEvents['applyFailed']
}

/** Pools that are worked on at the same time, and pools that there may be. */
const limits = { workers: 4, keysMax: 5000 }

/** The queue of pools whose children are to be applied, several at a time, with back-off where that fails. */
export class ChildQueue implements AsyncDisposable {
  readonly #deps: ChildQueueDeps
  readonly #queue: WorkQueue
  /** By the pool's name: a failed try is retried, which finds a pool that is gone. */
  readonly #problems = new Map<string, { readonly uid: string; readonly problem: string }>()

  constructor(deps: ChildQueueDeps) {
    this.#deps = deps
    const { clock, failed, desiredState } = deps
    const work = (name: string, stop: AbortSignal) => this.#work(name, stop)
    this.#queue = new WorkQueue({ clock, work, failed, desiredState }, limits)
  }

  /** Queues the pool of this name; one that has failed waits for its retry unless its desired state has changed. */
  add(name: string): void {
    this.#queue.add(name)
  }

  /** Why a pool's children cannot be applied, where an operator has to intervene. */
  problemOf({ metadata: { name, uid } }: BrowserPool): string | undefined {
    const known = this.#problems.get(name)
    return known?.uid === uid ? known.problem : undefined
  }

  /** Starts nothing more, and waits for what runs. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#queue[Symbol.asyncDispose]()
  }

  async #work(name: string, stop: AbortSignal) {
    const { wanted, apply, tried } = this.#deps
    const pool = wanted(name)
    if (!pool) {
      this.#problems.delete(name)
      return
    }
    const { uid } = pool.metadata
    try {
      const againMs = await apply(pool, stop)
      this.#problems.delete(name)
      if (againMs !== undefined) this.#queue.addAfter(name, againMs)
    } catch (thrown) {
      const problem = problemOf(thrown)
      if (problem !== undefined) this.#problems.set(name, { uid, problem })
      throw thrown
    } finally {
      tried(name)
    }
  }
}

/** A transient failure is no problem of the pool's. */
const problemOf = (thrown: unknown): string | undefined => {
  const outcome = outcomeOf(thrown)
  const isTransient = outcome === 'unavailable' || outcome === 'too-many-requests' || outcome === 'conflict'
  return isTransient ? undefined : toAppError(thrown).message
}
