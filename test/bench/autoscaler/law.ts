import type { Bounds, Sight } from '#cli/simulation/sight.ts'

/**
 * A law of scaling with its memory. `size` is the number of pods that shall exist without draining ones; of `jobs`, each of which runs
 * one capture and ends, it is the number to create now.
 */
export type Law = {
  readonly kind: 'pods' | 'jobs'
  /** Milliseconds between two evaluations. */
  readonly everyMs: number
  /** Whether a capture that arrives while there are no pods causes an evaluation at once. */
  readonly wakesFromZero: boolean
  readonly size: (sight: Sight) => number
}

/** Creates a law without memory of earlier evaluations. */
export type CreateLaw = (bounds: Bounds) => Law
