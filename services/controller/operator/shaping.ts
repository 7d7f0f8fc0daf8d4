import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { Clock } from '#shared/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { WorkQueue } from '#shared/kube/work-queue.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import type { OperatorEvents } from './events.ts'
import type { Shape } from './shape.ts'

/** What shaping works with. */
export type ShapingDeps = {
  readonly clock: Clock
  readonly shape: Shape
  /** The pool of this name, where what belongs to it is to be brought about now. */
  readonly wanted: (name: string) => BrowserPool | undefined
  /** Hears of every try. */
  readonly tried: (name: string) => void
  readonly failed: OperatorEvents['shapeFailed']
}

/** Brings about what belongs to pools, several at a time, again and again where it fails. */
export type Shaping = AsyncDisposable & {
  /** Has the pool of this name looked at soon. */
  readonly add: (name: string) => void
  /** Why what belongs to the pool of this uid cannot be brought about, if somebody has to look. */
  readonly problemOf: (uid: string) => string | undefined
}

/** Pools that are worked on at the same time, and pools that there may be. */
const limits = { workers: 4, keysMax: 5000 }

/** Begins with nothing to do. */
export const createShaping = ({ clock, shape, wanted, tried, failed }: ShapingDeps): Shaping => {
  const problems = new Map<string, string>()

  const work = async (name: string, stop: AbortSignal) => {
    const pool = wanted(name)
    if (!pool) return
    const { uid } = pool.metadata
    try {
      const againMs = await shape(pool, stop)
      problems.delete(uid)
      if (againMs !== undefined) queue.addAfter(name, againMs)
    } catch (thrown) {
      const problem = problemOf(thrown)
      if (problem !== undefined) problems.set(uid, problem)
      throw thrown
    } finally {
      tried(name)
    }
  }
  const queue = new WorkQueue({ clock, work, failed }, limits)

  return {
    add: (name) => void queue.add(name),
    problemOf: (uid) => problems.get(uid),
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  }
}

/** What passes by itself is no problem of the pool's. */
const problemOf = (thrown: unknown): string | undefined => {
  const outcome = outcomeOf(thrown)
  const passes = outcome === 'unavailable' || outcome === 'too-many-requests' || outcome === 'conflict'
  return passes ? undefined : toAppError(thrown).message
}
