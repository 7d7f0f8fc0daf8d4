import type { HoldCause } from '#worker/telemetry/events.ts'

/** Creates an open gate: the worker may pull captures while it is not draining and has no holds. */
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
    /** The signal that aborts when pulling has to end; a new one after each time. */
    pulling: () => pulling.signal,
    /** Resolves when pulling is allowed, or once `signal` aborts. */
    mayPull: async (signal: AbortSignal): Promise<void> => {
      if (signal.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const done = () => resolve()
      signal.addEventListener('abort', done)
      await Promise.race([allowed.promise, promise])
      signal.removeEventListener('abort', done)
    },
    /** Closes the gate until the cause is released. */
    hold: (cause: HoldCause, reason: string): void => {
      holds.set(cause, reason)
      settle()
    },
    release: (cause: HoldCause): void => {
      holds.delete(cause)
      settle()
    },
    /** The reason of each cause that holds the worker now. */
    holds: (): ReadonlyMap<HoldCause, string> => holds,
    setDraining: (next: boolean): void => {
      isDraining = next
      settle()
    },
  }
}

/** See `createPullGate`. */
export type PullGate = Readonly<ReturnType<typeof createPullGate>>

/** Events of holds. */
export type HoldEvents = {
  /** A hold began or its reason changed. */
  readonly held: (cause: HoldCause, reason: string) => void
  readonly released: (cause: HoldCause) => void
}

/** Wraps `hold` and `release` so that each change is reported to `events`. */
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
