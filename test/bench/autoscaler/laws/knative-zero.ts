// Bounds and the step to zero: Knative Serving 1.23.0, pkg/reconciler/autoscaling/kpa/{scaler,kpa}.go. The probe of the activator
// always succeeds here, and an activation has no deadline.
import type { Desired, KnativeSettings } from './knative-kpa.ts'

/** Bounds, and the size at the start. */
type Scale = { readonly min: number; readonly max: number; readonly size: number }
type Windows = Pick<KnativeSettings, 'stableWindowMs' | 'graceMs'>
/** Status of a PodAutoscaler, and since when. */
export type Status = { readonly phase: 'activating' | 'active' | 'inactive'; readonly sinceMs: number }

/** What is done about a desired size: `size` is applied unless undefined, `isWanted` says whether any pod still is. */
type Step = { readonly size?: number; readonly isWanted: boolean | 'unknown' }

/** handleScaleToZero; `proxiedMs` is how long the activator has been in the path of requests. */
export const stepToZero = (
  nowMs: number,
  { phase, sinceMs }: Status,
  { stableWindowMs, graceMs }: Windows,
  proxiedMs: number,
): Step => {
  const forMs = nowMs - sinceMs
  if (phase === 'activating') return { isWanted: 'unknown' }
  if (phase === 'active') return forMs >= stableWindowMs ? { isWanted: false } : { size: 1, isWanted: true }
  return forMs >= graceMs || proxiedMs >= graceMs ? { size: 0, isWanted: false } : { isWanted: false }
}

/** computeActiveCondition; `enough` is whether as many pods as the least size are ready. */
const phaseAfter = (phase: Status['phase'], isWanted: Step['isWanted'], enough: boolean): Status['phase'] => {
  if (isWanted === false || (isWanted === 'unknown' && phase === 'inactive')) return 'inactive'
  return enough ? 'active' : 'activating'
}

/** The reconciler of a PodAutoscaler. */
export class ScaleToZero {
  readonly #windows: Windows
  readonly #min: number
  readonly #max: number
  #size: number
  #status: Status
  #proxiedSinceMs: number | undefined

  constructor(windows: Windows, { min, max, size }: Scale) {
    this.#windows = windows
    this.#min = min
    this.#max = max
    this.#size = size
    this.#status = { phase: size > 0 ? 'activating' : 'inactive', sinceMs: 0 }
  }

  /**
   * The size to apply, of a desired size, undefined without metrics. The activator is in the path while there is no excess, or no pod is
   * wanted; with the default burst capacity a pool of less than 211 slots thus goes to zero without a wait for the grace period.
   */
  reconcile(nowMs: number, ready: number, desired: Desired | undefined): number {
    const step = this.#step(nowMs, desired)
    this.#size = step.size ?? this.#size
    const isProxied = step.isWanted !== true || !desired || desired.excess < 0
    this.#proxiedSinceMs = isProxied ? (this.#proxiedSinceMs ?? nowMs) : undefined
    const phase = phaseAfter(this.#status.phase, step.isWanted, ready >= Math.max(this.#min, 1))
    if (phase !== this.#status.phase) this.#status = { phase, sinceMs: nowMs }
    return this.#size
  }

  #step(nowMs: number, desired: Desired | undefined): Step {
    if (!desired) return { isWanted: 'unknown' }
    const size = Math.min(Math.max(desired.size, this.#min), this.#max)
    if (size > 0) return { size, isWanted: true }
    return stepToZero(nowMs, this.#status, this.#windows, nowMs - (this.#proxiedSinceMs ?? nowMs))
  }
}
