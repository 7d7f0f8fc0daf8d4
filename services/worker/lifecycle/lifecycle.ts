import type { HeartbeatMessage } from '#shared/queue/messages.ts'
import { createPullGate } from './pull-gate.ts'

/** A drained worker that was not stopped takes work again after this: its controller has changed its decision or is gone. */
const drainedMs = 60_000

type State = HeartbeatMessage['state']

/**
 * Begins a worker's lifecycle: `starting` until it is warm. `stop` drains for good. `changed` is called on every change of its
 * state, `served` where a capture begins or ends and the state stays.
 */
export const startLifecycle = (stop: AbortSignal, changed: () => void, served = changed) => {
  const running = new Set<string>()
  const warmed = Promise.withResolvers<void>()
  const { setDraining, ...gate } = createPullGate()
  let isWarm = false
  let isDraining = false
  let timer: NodeJS.Timeout | undefined

  const become = (next: boolean) => {
    isDraining = next
    setDraining(next)
    changed()
  }
  const undrain = () => {
    clearTimeout(timer)
    if (isDraining && !stop.aborted) become(false)
  }
  const countDown = () => {
    clearTimeout(timer)
    if (isDraining && running.size === 0 && !stop.aborted) timer = setTimeout(undrain, drainedMs)
  }
  const drain = () => {
    if (!isDraining) become(true)
    countDown()
  }
  const end = () => {
    drain()
    clearTimeout(timer)
  }
  if (stop.aborted) queueMicrotask(end)
  else stop.addEventListener('abort', end, { once: true })

  return {
    ...gate,
    state: (): State => {
      if (isDraining) return running.size > 0 ? 'draining' : 'drained'
      return isWarm ? 'ready' : 'starting'
    },
    captures: (): readonly string[] => [...running],
    /** Records that a browser is warm; the first time counts. */
    warm: (): void => {
      if (isWarm) return
      isWarm = true
      warmed.resolve()
      changed()
    },
    /** Resolves when the worker is warm for the first time. */
    warmed: warmed.promise,
    drain,
    undrain,
    /** Counts a capture as running until disposed. */
    serve: (id: string): Disposable => {
      running.add(id)
      served()
      return {
        [Symbol.dispose]: () => {
          running.delete(id)
          countDown()
          if (isDraining) changed()
          else served()
        },
      }
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** Whether a worker takes captures, and the state of its heartbeat. */
export type WorkerLifecycle = Readonly<ReturnType<typeof startLifecycle>>
