const pollMs = 20

/** Resolves once `condition` holds; a throw counts as "not yet". Rejects after `withinMs` with what was awaited. */
export const eventually = async (
  condition: () => boolean | Promise<boolean>,
  { withinMs = 30_000, what = condition.toString() }: { withinMs?: number; what?: string } = {},
): Promise<void> => {
  const end = performance.now() + withinMs
  let last: unknown
  while (performance.now() < end) {
    try {
      if (await condition()) return
    } catch (error) {
      last = error
    }
    await new Promise((wake) => setTimeout(wake, pollMs))
  }
  throw new Error(`not within ${withinMs} ms: ${what}`, { cause: last })
}
