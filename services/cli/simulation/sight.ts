/** What a law sees of a simulated pool; counts are captures unless they say pods. */
export type Sight = {
  readonly nowMs: number
  /** Captures that wait for a slot. */
  readonly waiting: number
  /** Captures in a slot. */
  readonly running: number
  /** Captures that were accepted since the start. */
  readonly accepted: number
  /** Milliseconds that the oldest waiting capture has waited; 0 without one. */
  readonly oldestMs: number
  /** Capture-milliseconds that captures have waited and run since the start: its growth over a time, divided by it, is a mean. */
  readonly knownMs: number
  /** Pods that take captures. */
  readonly ready: number
  /** Pods that were created and do not take captures yet. */
  readonly starting: number
  /** Pods that finish what they run, and then end. */
  readonly draining: number
}

/** Limits of a simulated pool. */
export type Bounds = {
  readonly min: number
  readonly max: number
  /** Captures that one pod runs at a time. */
  readonly slots: number
  /** How many of them run no capture of lane `bulk`; none if not given. */
  readonly reservedSlots?: number
}
