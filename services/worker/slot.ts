import { toAppError } from '#shared/errors/app-error.ts'
import { pause } from './pause.ts'
import type { Events } from './events.ts'
import type { Host } from './host/steer-host.ts'

const retryMs = [200, 500, 1000, 2000, 5000]

/** A place for one capture at a time, with a browser host that is started again whenever it is gone. */
export type Slot = AsyncDisposable & {
  readonly isWarm: () => boolean
  /** Milliseconds for which a warm host has been tried for in vain; 0 while there is one, or nobody asks for one. */
  readonly coldForMs: () => number
  /** A warm host; starts one where there is none and tries until it is warm. Undefined once `stop` aborts. */
  readonly host: (stop: AbortSignal) => Promise<Host | undefined>
}

/** Makes a slot. `start` gives a host that is warm, or throws and leaves nothing behind, soon after `stop` aborts too. */
export const createSlot = (
  start: (stop: AbortSignal) => Promise<Host>,
  events: Pick<Events, 'hostUp' | 'hostFailed' | 'hostGone'>,
): Slot => {
  let current: Host | undefined
  let coldSince: number | undefined
  const isWarm = () => current?.gone.aborted === false
  const discard = async () => {
    const gone = current
    current = undefined
    await gone?.[Symbol.asyncDispose]()
  }
  return {
    isWarm,
    coldForMs: () => (coldSince === undefined ? 0 : performance.now() - coldSince),
    host: async (stop) => {
      for (let failures = 0; !stop.aborted; failures += 1) {
        if (current && !current.gone.aborted) return current
        if (current) events.hostGone(String(current.gone.reason))
        await discard()
        const began = performance.now()
        coldSince ??= began
        try {
          const host = await start(stop)
          current = host
          coldSince = undefined
          events.hostUp(performance.now() - began)
        } catch (error) {
          if (stop.aborted) return undefined
          events.hostFailed(toAppError(error))
          await pause(retryMs[Math.min(failures, retryMs.length - 1)] ?? 0, stop)
        }
      }
      return undefined
    },
    [Symbol.asyncDispose]: discard,
  }
}
