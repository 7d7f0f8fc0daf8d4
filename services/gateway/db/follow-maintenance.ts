import { pause } from '#shared/process/pause.ts'
import type { Rest } from '#shared/process/rest.ts'

/** Whether maintenance is on: at the last successful read, and now, for what is accepted after a rest, in which reads are rare. */
export type MaintenanceWatch = Disposable & { readonly isOn: () => boolean; readonly check: () => Promise<boolean> }

/**
 * Reads every `everyMs`, at rest less often, whether maintenance is on, starting now. `check` reads again if the last read is older
 * than two intervals, and waits for that at most one. Keeps the last state while the database is unavailable: then nothing is
 * accepted anyway.
 */
export const followMaintenance = (
  read: () => Promise<string | null>,
  { everyMs, rest }: { readonly everyMs: number; readonly rest: Pick<Rest, 'wait'> },
): MaintenanceWatch => {
  const disposal = new AbortController()
  let on = false
  let readAtMs = performance.now()
  let reading: Promise<void> | undefined
  const readOnce = async () => {
    try {
      on = (await read()) !== null
    } catch {
      // Nothing is accepted either.
    }
    reading = undefined
    readAtMs = performance.now()
  }
  const update = () => (reading ??= readOnce())
  const follow = async () => {
    while (!disposal.signal.aborted) {
      await update()
      await rest.wait(everyMs, disposal.signal)
    }
  }
  void follow()
  return {
    isOn: () => on,
    check: async () => {
      if (performance.now() - readAtMs > 2 * everyMs) await Promise.race([update(), pause(everyMs, disposal.signal)])
      return on
    },
    [Symbol.dispose]: () => disposal.abort(),
  }
}
