import type { HeartbeatMessage } from '#shared/queue/messages.ts'
import { createPullGate } from './pull-gate.ts'

/** A drained worker that was not stopped takes captures again after this: the controller changed its decision or is gone. */
const drainedMs = 60_000

type State = HeartbeatMessage['state']

/**
 * Creates the lifecycle of a worker, `starting` until it is warm. `stop` drains permanently. `onState` is called on every
 * change of state, `onCapture` when a capture begins or ends without one.
 */
export const startLifecycle = (stop: AbortSignal, onState: () => void, onCapture = onState) => {
  const running = new Set<string>()
  const warmed = Promise.withResolvers<void>()
  const { setDraining, ...gate } = createPullGate()
  let isWarm = false
  let isDraining = false
  let timer: NodeJS.Timeout | undefined

  const changeDraining = (next: boolean) => {
    isDraining = next
    setDraining(next)
    onState()
  }
  const undrain = () => {
    clearTimeout(timer)
    if (isDraining && !stop.aborted) changeDraining(false)
  }
  const scheduleUndrain = () => {
    clearTimeout(timer)
    if (isDraining && running.size === 0 && !stop.aborted) timer = setTimeout(undrain, drainedMs)
  }
  const drain = () => {
    if (!isDraining) changeDraining(true)
    scheduleUndrain()
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
    /** Records that a browser is warm; later calls change nothing. */
    warm: (): void => {
      if (isWarm) return
      isWarm = true
      warmed.resolve()
      onState()
    },
    /** Resolves when the worker is warm for the first time. */
    warmed: warmed.promise,
    drain,
    undrain,
    /** Counts a capture as running until disposed. */
    serve: (id: string): Disposable => {
      running.add(id)
      onCapture()
      return {
        [Symbol.dispose]: () => {
          running.delete(id)
          scheduleUndrain()
          if (isDraining) onState()
          else onCapture()
        },
      }
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** The state of a worker, and whether it may pull captures. */
export type WorkerLifecycle = Readonly<ReturnType<typeof startLifecycle>>
