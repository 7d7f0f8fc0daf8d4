const pollMs = 20

type EventuallyOptions = { readonly withinMs?: number; readonly what?: string; readonly everyMs?: number }

/**
 * Polls every `everyMs` until `condition` is true; a throw counts as false. Pauses at least as long as `condition` took: programs that
 * it runs take processor time from what it waits for. Rejects with `what` and the last error after `withinMs`.
 */
export const eventually = async (
  condition: () => boolean | Promise<boolean>,
  { withinMs = 30_000, what = condition.toString(), everyMs = pollMs }: EventuallyOptions = {},
): Promise<void> => {
  const end = performance.now() + withinMs
  let last: unknown
  while (performance.now() < end) {
    const began = performance.now()
    try {
      if (await condition()) return
      last = undefined
    } catch (error) {
      last = error
    }
    await new Promise((wake) => setTimeout(wake, Math.max(everyMs, performance.now() - began)))
  }
  // In the message too: tap's reporter prints no causes.
  const reason = last instanceof Error ? `; ${last.message}` : ''
  throw new Error(`not within ${withinMs} ms: ${what}${reason}`, { cause: last })
}
