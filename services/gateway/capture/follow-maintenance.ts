/** Whether maintenance is on, as it was read last. */
export type MaintenanceWatch = Disposable & { readonly isOn: () => boolean }

/**
 * Reads every `everyMs` whether maintenance is on, beginning now. What was read last holds while the database does not
 * answer: then nothing is accepted anyway.
 */
export const followMaintenance = (read: () => Promise<string | null>, everyMs: number): MaintenanceWatch => {
  let on = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const look = async () => {
    on = await read().then(
      (since) => since !== null,
      () => on,
    )
    if (!stopped) timer = setTimeout(() => void look(), everyMs).unref()
  }
  void look()
  return {
    isOn: () => on,
    [Symbol.dispose]: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}
