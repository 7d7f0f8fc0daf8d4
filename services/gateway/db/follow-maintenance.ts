/** Whether maintenance was on at the last successful read. */
export type MaintenanceWatch = Disposable & { readonly isOn: () => boolean }

/**
 * Reads every `everyMs` whether maintenance is on, starting now. Keeps the last state while the database is unavailable:
 * then nothing is accepted anyway.
 */
export const followMaintenance = (read: () => Promise<string | null>, everyMs: number): MaintenanceWatch => {
  let on = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const poll = async () => {
    on = await read().then(
      (since) => since !== null,
      () => on,
    )
    if (!stopped) timer = setTimeout(() => void poll(), everyMs).unref()
  }
  void poll()
  return {
    isOn: () => on,
    [Symbol.dispose]: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}
