// The Knative Pod Autoscaler on concurrency: Knative Serving 1.23.0, pkg/autoscaler/scaling/autoscaler.go, for a reachable revision
// without an activation scale.
import { GreatestWindow } from './knative-window.ts'

/** Settings of the ConfigMap config-autoscaler. Shares are of 1. */
export type KnativeSettings = {
  readonly stableWindowMs: number
  /** Share of the stable window that is the panic window. */
  readonly panicWindowShare: number
  /** Required pods / ready pods from which on it panics. */
  readonly panicThreshold: number
  readonly targetUtilization: number
  readonly maxUpRate: number
  readonly maxDownRate: number
  readonly scaleDownDelayMs: number
  readonly graceMs: number
  /** Captures of a burst that the pods can take at once, before the activator leaves the path. It matters for the size zero only. */
  readonly targetBurstCapacity: number
}

/** pkg/autoscaler/config/config.go. */
export const knativeDefaults: KnativeSettings = {
  stableWindowMs: 60_000,
  panicWindowShare: 0.1,
  panicThreshold: 2,
  targetUtilization: 0.7,
  maxUpRate: 1000,
  maxDownRate: 2,
  scaleDownDelayMs: 0,
  graceMs: 30_000,
  targetBurstCapacity: 211,
}

/** Milliseconds between two evaluations: pkg/autoscaler/scaling/multiscaler.go. */
export const tickMs = 2000

/** Fields of a DeciderSpec: `target` and `total` are concurrent captures for a pod, as aimed at and at most. */
type Decider = Omit<KnativeSettings, 'panicWindowShare' | 'targetUtilization' | 'graceMs'> & {
  readonly target: number
  readonly total: number
}
/** Concurrent captures, and pods that take some. */
export type Load = { readonly stable: number; readonly panic: number; readonly ready: number }

/** A size, and the captures that the pods could take at once beyond the target of a burst. */
export type Desired = { readonly size: number; readonly excess: number }

/** An autoscaler with its memory of panic. */
export class Kpa {
  readonly #decider: Decider
  readonly #delay: GreatestWindow | undefined
  #panicMs: number | undefined
  #maxPanicPods: number

  /** Starts in panic with more than one pod, as it has no metrics yet. */
  constructor(decider: Decider, { nowMs, ready }: { readonly nowMs: number; readonly ready: number }) {
    this.#decider = decider
    this.#delay = decider.scaleDownDelayMs > 0 ? new GreatestWindow(decider.scaleDownDelayMs, tickMs) : undefined
    this.#panicMs = ready > 1 ? nowMs : undefined
    this.#maxPanicPods = ready
  }

  /** Since when it panics. */
  get panicMs(): number | undefined {
    return this.#panicMs
  }

  /** The required size, which bounds of the pool do not limit. */
  scale(nowMs: number, load: Load): Desired {
    const { target, total, maxUpRate, maxDownRate, targetBurstCapacity } = this.#decider
    const pods = Math.max(1, load.ready)
    const bounded = (desired: number) =>
      Math.min(Math.max(desired, Math.floor(pods / maxDownRate)), Math.ceil(maxUpRate * pods))
    const desiredPanic = Math.ceil(load.panic / target)
    this.#panic(nowMs, desiredPanic / pods)
    let size = bounded(Math.ceil(load.stable / target))
    if (this.#panicMs !== undefined) {
      // It does not scale down while it panics.
      this.#maxPanicPods = Math.max(this.#maxPanicPods, size, bounded(desiredPanic))
      size = this.#maxPanicPods
    }
    if (this.#delay) size = this.#delay.record(nowMs, size)
    if (targetBurstCapacity <= 0) return { size, excess: targetBurstCapacity }
    return { size, excess: Math.floor(load.ready * total - targetBurstCapacity - load.panic) }
  }

  #panic(nowMs: number, ratio: number): void {
    const { panicThreshold, stableWindowMs } = this.#decider
    if (ratio >= panicThreshold) this.#panicMs = nowMs
    else if (this.#panicMs !== undefined && this.#panicMs + stableWindowMs < nowMs) {
      this.#panicMs = undefined
      this.#maxPanicPods = 0
    }
  }
}
