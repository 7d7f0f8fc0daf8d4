import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { Clock } from '#shared/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { WorkQueue } from '#shared/kube/work-queue.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import type { OperatorEvents } from '#controller/operator/events.ts'
import type { Shape } from './children.ts'

/** What shaping works with. */
export type ShapingDeps = {
  readonly clock: Clock
  readonly shape: Shape
  /** The pool of this name, where what belongs to it is to be brought about now. */
  readonly wanted: (name: string) => BrowserPool | undefined
  /** Changes with whatever may make a try end otherwise than the last one. */
  readonly wish: (name: string) => string
  /** Hears of every try. */
  readonly tried: (name: string) => void
  readonly failed: OperatorEvents['shapeFailed']
}

/** Brings about what belongs to pools, several at a time, again and again where it fails. */
export type Shaping = AsyncDisposable & {
  /** Has the pool of this name looked at soon; where that has failed, not before its next try, unless the wish has changed. */
  readonly add: (name: string) => void
  /** Why what belongs to a pool cannot be brought about, if somebody has to look. */
  readonly problemOf: (pool: BrowserPool) => string | undefined
}

/** Pools that are worked on at the same time, and pools that there may be. */
const limits = { workers: 4, keysMax: 5000 }

/** Begins with nothing to do. */
export const createShaping = ({ clock, shape, wanted, wish, tried, failed }: ShapingDeps): Shaping => {
  /** By the pool's name: whatever has failed is tried again, which finds a pool that is gone. */
  const problems = new Map<string, { readonly uid: string; readonly problem: string }>()

  const work = async (name: string, stop: AbortSignal) => {
    const pool = wanted(name)
    if (!pool) {
      problems.delete(name)
      return
    }
    const { uid } = pool.metadata
    try {
      const againMs = await shape(pool, stop)
      problems.delete(name)
      if (againMs !== undefined) queue.addAfter(name, againMs)
    } catch (thrown) {
      const problem = problemOf(thrown)
      if (problem !== undefined) problems.set(name, { uid, problem })
      throw thrown
    } finally {
      tried(name)
    }
  }
  const queue = new WorkQueue({ clock, work, failed, wish }, limits)

  return {
    add: (name) => void queue.add(name),
    problemOf: ({ metadata: { name, uid } }) => {
      const known = problems.get(name)
      return known?.uid === uid ? known.problem : undefined
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  }
}

/** What passes by itself is no problem of the pool's. */
const problemOf = (thrown: unknown): string | undefined => {
  const outcome = outcomeOf(thrown)
  const passes = outcome === 'unavailable' || outcome === 'too-many-requests' || outcome === 'conflict'
  return passes ? undefined : toAppError(thrown).message
}
