/** What may keep a worker that is not drained from taking captures. */
export type HoldCause = 'egress' | 'browser'

/** Whether a worker may pull captures: while nobody drains it and no cause holds it. */
export type PullGate = {
  /** Aborts when pulling has to end; a new one stands here once it may begin again. */
  readonly pulling: () => AbortSignal
  /** Resolves when pulling is allowed, or once `over` aborts. */
  readonly mayPull: (over: AbortSignal) => Promise<void>
  /** Keeps the worker from taking captures until the cause is released. */
  readonly hold: (cause: HoldCause, reason: string) => void
  readonly release: (cause: HoldCause) => void
  /** Why nothing is taken, beside draining. */
  readonly holds: () => ReadonlyMap<HoldCause, string>
  readonly setDraining: (isDraining: boolean) => void
}

/** Makes a gate that is open. */
export const createPullGate = (): PullGate => {
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
    pulling: () => pulling.signal,
    mayPull: async (over) => {
      if (over.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const done = () => resolve()
      over.addEventListener('abort', done)
      await Promise.race([allowed.promise, promise])
      over.removeEventListener('abort', done)
    },
    hold: (cause, reason) => {
      holds.set(cause, reason)
      settle()
    },
    release: (cause) => {
      holds.delete(cause)
      settle()
    },
    holds: () => holds,
    setDraining: (next) => {
      isDraining = next
      settle()
    },
  }
}

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
