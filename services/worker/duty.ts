import type { BeatMessage } from '#shared/queue/messages.ts'

/** A drained worker that nobody ended takes work again after this: whoever drained it has changed their mind or is gone. */
const drainedMs = 60_000

type State = BeatMessage['state']

/** Whether a worker takes captures, and what it says of itself. */
export type Duty = Disposable & {
  readonly state: () => State
  readonly captures: () => readonly string[]
  /** Aborts when pulling has to end; a new one stands here once it may begin again. */
  readonly pulling: () => AbortSignal
  /** Resolves when pulling is allowed, or at `stop`. */
  readonly mayPull: () => Promise<void>
  /** Says that a browser is warm; the first time counts. */
  readonly warm: () => void
  /** Resolves when the worker is warm for the first time. */
  readonly warmed: Promise<void>
  readonly drain: () => void
  readonly undrain: () => void
  /** Counts a capture as running until disposed. */
  readonly serve: (id: string) => Disposable
}

/** Begins a worker's duty: `starting` until it is warm. `stop` drains for good. `changed` is called on every change. */
export const beginDuty = (stop: AbortSignal, changed: () => void): Duty => {
  const running = new Set<string>()
  const warmed = Promise.withResolvers<void>()
  let isWarm = false
  let isDraining = false
  let pulling = new AbortController()
  let allowed = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  allowed.resolve()

  const undrain = () => {
    clearTimeout(timer)
    if (!isDraining || stop.aborted) return
    isDraining = false
    pulling = new AbortController()
    allowed.resolve()
    changed()
  }
  const countDown = () => {
    clearTimeout(timer)
    if (isDraining && running.size === 0 && !stop.aborted) timer = setTimeout(undrain, drainedMs)
  }
  const drain = () => {
    if (!isDraining) {
      isDraining = true
      allowed = Promise.withResolvers<void>()
      pulling.abort()
      changed()
    }
    countDown()
  }
  const end = () => {
    drain()
    clearTimeout(timer)
    allowed.resolve()
  }
  if (stop.aborted) queueMicrotask(end)
  else stop.addEventListener('abort', end, { once: true })

  return {
    state: () => {
      if (isDraining) return running.size > 0 ? 'draining' : 'drained'
      return isWarm ? 'ready' : 'starting'
    },
    captures: () => [...running],
    pulling: () => pulling.signal,
    mayPull: () => allowed.promise,
    warm: () => {
      if (isWarm) return
      isWarm = true
      warmed.resolve()
      changed()
    },
    warmed: warmed.promise,
    drain,
    undrain,
    serve: (id) => {
      running.add(id)
      changed()
      return {
        [Symbol.dispose]: () => {
          running.delete(id)
          countDown()
          changed()
        },
      }
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
