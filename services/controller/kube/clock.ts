/** Time as the pieces of this folder see it, so that hours of it pass at once in a test. */
export type Clock = {
  /** Milliseconds of a clock that is never set; only differences mean anything. */
  readonly nowMs: () => number
  /** The calendar time, for what people read. Nothing is decided by it. */
  readonly date: () => Date
  /** Runs once, `waitMs` from now, unless disposed before. */
  readonly after: (waitMs: number, run: () => void) => Disposable
}

/** The time of this machine. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  date: () => new Date(),
  after: (waitMs, run) => setTimeout(run, waitMs),
}

/** Resolves after `waitMs`, or as soon as `signal` aborts. */
export const pause = async (clock: Clock, waitMs: number, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => resolve()
  using _timer = clock.after(waitMs, end)
  signal.addEventListener('abort', end)
  await promise
  signal.removeEventListener('abort', end)
}

/** Calendar time with the six digits of Kubernetes' MicroTime, the last three of which are zero. */
export const microTime = (date: Date): string => date.toISOString().replace('Z', '000Z')
