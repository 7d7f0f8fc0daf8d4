import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { Clock } from '#controller/kube/clock.ts'

/** Deviation of a process' clocks from the true time. */
export type ClockFault = {
  /** Milliseconds by which its wall clock is ahead. */
  readonly dateAheadMs?: number
  /** Milliseconds that its clocks count per true millisecond. */
  readonly rate?: number
}

/** A simulated process that can be stopped, resumed and killed. Its code runs in the test's process. */
export type SimulatedProcess = {
  readonly name: string
  /** The clock of the process. */
  readonly clock: Clock
  /** Runs code in the process, with its timers, its `performance.now()` and its randomness. */
  readonly run: <T>(code: () => T) => T
  /** Delivers to the process: now, on resume if it is stopped, or never if it is dead. */
  readonly deliver: (take: () => void) => void
  /** Like SIGSTOP and SIGCONT: time passes, nothing runs. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Like SIGKILL. */
  readonly kill: () => void
  readonly isAlive: () => boolean
}

type Inside = Pick<SimulatedProcess, 'clock'> & { readonly random: () => number }

const inside = new AsyncLocalStorage<Inside>()

/** Creates a process on a clock that a test advances. `random` provides all its random numbers, in [0, 1). */
export const createProcess = (
  options: { readonly name: string; readonly clock: Clock; readonly random: () => number },
  { dateAheadMs = 0, rate = 1 }: ClockFault = {},
): SimulatedProcess => {
  let state: 'runs' | 'stopped' | 'dead' = 'runs'
  const held: (() => void)[] = []
  const deliver = (take: () => void) => {
    if (state === 'dead') return
    if (state === 'stopped') held.push(take)
    else inside.run(self, take)
  }
  const clock: Clock = {
    nowMs: () => options.clock.nowMs() * rate,
    date: () => new Date(options.clock.date().getTime() + dateAheadMs),
    after: (waitMs, run) => {
      let isOff = false
      const due = () => isOff || run()
      const timer = options.clock.after(waitMs / rate, () => deliver(due))
      return {
        [Symbol.dispose]: () => {
          isOff = true
          timer[Symbol.dispose]()
        },
      }
    },
  }
  const self: Inside = { clock, random: options.random }
  return {
    name: options.name,
    clock,
    run: (code) => inside.run(self, code),
    deliver,
    freeze: () => {
      if (state === 'runs') state = 'stopped'
    },
    // Delivers held items in order, with all work that follows from each before the next, as Node.js does.
    thaw: () => {
      const next = () => {
        if (state !== 'stopped') return
        const take = held.shift()
        if (!take) {
          state = 'runs'
          return
        }
        inside.run(self, take)
        options.clock.after(0, next)
      }
      next()
    },
    kill: () => {
      state = 'dead'
    },
    isAlive: () => state !== 'dead',
  }
}

/** Shared: timeouts also fire after the response of a request, and capturing a stack each time dominates the cost. */
const tooLate = new DOMException('too late', 'TimeoutError')

/** The return value of `setTimeout` within a process. */
class SimulatedTimer {
  readonly #timer: Disposable

  constructor({ clock }: Inside, run: () => void, waitMs = 0) {
    this.#timer = clock.after(Math.max(1, waitMs), run)
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]()
  }
}

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  now: performance.now.bind(performance),
  timeout: AbortSignal.timeout.bind(AbortSignal),
  randomBytes: crypto.randomBytes,
  randomUUID: crypto.randomUUID,
}

const bytesOf = ({ random }: Inside, size: number): Buffer =>
  Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)))

const uuidOf = (process: Inside) => {
  const hex = bytesOf(process, 16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}` as const
}

/**
 * Redirects timers and randomness of Node.js to the simulated process whose code is running.
 * All other code in this process is unaffected.
 */
export const simulateTime = (): void => {
  const timeout = (run: (...args: unknown[]) => void, waitMs?: number, ...args: unknown[]) => {
    const process = inside.getStore()
    return process ? new SimulatedTimer(process, () => run(...args), waitMs) : real.setTimeout(run, waitMs, ...args)
  }
  const clear = (timer: unknown) => {
    if (timer instanceof SimulatedTimer) timer[Symbol.dispose]()
    else real.clearTimeout(timer as NodeJS.Timeout)
  }
  const abortAfter = (waitMs: number) => {
    const process = inside.getStore()
    if (!process) return real.timeout(waitMs)
    const controller = new AbortController()
    process.clock.after(waitMs, () => controller.abort(tooLate))
    return controller.signal
  }
  Object.assign(globalThis, { setTimeout: timeout, clearTimeout: clear })
  Object.assign(AbortSignal, { timeout: abortAfter })
  Object.assign(performance, { now: () => inside.getStore()?.clock.nowMs() ?? real.now() })
  Object.assign(crypto, {
    randomBytes: (size: number) => {
      const process = inside.getStore()
      return process ? bytesOf(process, size) : real.randomBytes(size)
    },
    randomUUID: () => {
      const process = inside.getStore()
      return process ? uuidOf(process) : real.randomUUID()
    },
  })
  syncBuiltinESMExports()
}
