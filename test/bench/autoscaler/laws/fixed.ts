import type { CreateLaw } from '#test/bench/autoscaler/law.ts'

/** A pool of `size` pods whatever happens. */
export const createFixed =
  (size: number): CreateLaw =>
  () => ({ kind: 'pods', everyMs: 60_000, wakesFromZero: false, size: () => size })
