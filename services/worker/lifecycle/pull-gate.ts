/** What may keep a worker that is not drained from taking captures. */
export type HoldCause = 'egress' | 'browser'

/** Makes the gate of a worker, which may pull captures while nobody drains it and no cause holds it. It is open. */
export const createPullGate = () => {
  const holds = new Map<HoldCause, string>()
  let isDraining = false
  let pulling = new AbortController()
  let allowed = Promise.withResolvers<void>()
  allowed.resolve()

  const settle = () => {
    const isOpen = !isDraining && holds.size === 0
    if (isOpen === !pulling.signal.aborted) return
    if (isOpen) {
      pulling = new AbortController()
      allowed.resolve()
    } else {
      allowed = Promise.withResolvers<void>()
      pulling.abort()
    }
  }
  return {
    /** Aborts when pulling has to end; a new one stands here once it may begin again. */
    pulling: () => pulling.signal,
    /** Resolves when pulling is allowed, or once `over` aborts. */
    mayPull: async (over: AbortSignal): Promise<void> => {
      if (over.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const done = () => resolve()
      over.addEventListener('abort', done)
      await Promise.race([allowed.promise, promise])
      over.removeEventListener('abort', done)
    },
    /** Keeps the worker from taking captures until the cause is released. */
    hold: (cause: HoldCause, reason: string): void => {
      holds.set(cause, reason)
      settle()
    },
    release: (cause: HoldCause): void => {
      holds.delete(cause)
      settle()
    },
    /** Why nothing is taken, beside draining. */
    holds: (): ReadonlyMap<HoldCause, string> => holds,
    setDraining: (next: boolean): void => {
      isDraining = next
      settle()
    },
  }
}

/** See `createPullGate`. */
export type PullGate = Readonly<ReturnType<typeof createPullGate>>

/** Receives holds that begin, change and end. */
export type HoldEvents = {
  /** Nothing is taken from now on, until the cause is gone. */
  readonly held: (cause: HoldCause, reason: string) => void
  readonly released: (cause: HoldCause) => void
}

/** Holds and releases a worker, and reports what that changes. */
export const reportedHolds = (
  gate: Pick<PullGate, 'hold' | 'release' | 'holds'>,
  events: HoldEvents,
): Pick<PullGate, 'hold' | 'release'> => ({
  hold: (cause, reason) => {
    const isNew = gate.holds().get(cause) !== reason
    gate.hold(cause, reason)
    if (isNew) events.held(cause, reason)
  },
  release: (cause) => {
    if (!gate.holds().has(cause)) return
    gate.release(cause)
    events.released(cause)
  },
})
