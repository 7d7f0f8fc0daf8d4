import { isTerminal } from '#shared/capture/status.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Captures } from '#gateway/db/captures-in.ts'
import type { Waiter, Waiters } from './waiters.ts'

/** Most milliseconds between two looks at the row: an event may be lost. */
const pollMs = 1000

/** How a wait ended: with a terminal capture, or with the time over while it goes on. */
export type Ended = { readonly capture: FoundCapture } | 'goes-on'

const look = async (captures: Pick<Captures, 'find'>, of: { id: string; accountId: string }) => {
  try {
    return { capture: await captures.find(of) }
  } catch (error) {
    // The capture goes on without us; the next look may find the database back.
    if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') return undefined
    throw error
  }
}

/**
 * Waits at most `boundMs` for the end of a capture. Events only say when to look: the row decides. Throws `NOT_FOUND`
 * where the capture was deleted meanwhile.
 */
export const waitForEnd = async (
  deps: { readonly captures: Pick<Captures, 'find'>; readonly waiters: Pick<Waiters, 'isStopping'> },
  waiter: Pick<Waiter, 'waitForChange'>,
  of: { readonly id: string; readonly accountId: string },
  boundMs: number,
): Promise<Ended> => {
  const end = performance.now() + boundMs
  for (let leftMs = boundMs; leftMs > 0 && !deps.waiters.isStopping(); leftMs = end - performance.now()) {
    await waiter.waitForChange(Math.min(pollMs, leftMs))
    const found = await look(deps.captures, of)
    if (found && !found.capture) throw new AppError('NOT_FOUND')
    if (found?.capture && isTerminal(found.capture.status)) return { capture: found.capture }
  }
  return 'goes-on'
}
