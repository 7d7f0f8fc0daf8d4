/** Clock and timers, injected so that tests can advance by hours at once. */
export type Clock = {
  /** Milliseconds of a monotonic clock; only differences are meaningful. */
  readonly nowMs: () => number
  /** The calendar time, for display and schedules. */
  readonly date: () => Date
  /** Runs once, `waitMs` from now, unless disposed before. */
  readonly after: (waitMs: number, run: () => void) => Disposable
}

/** The clock of this machine. */
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
