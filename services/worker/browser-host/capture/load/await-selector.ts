import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { findFirst, usingSelector } from '#worker/browser-host/capture/page/selectors.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'

const pollMs = 50

type Waiting = Pick<OpenPage, 'session' | 'mainFrameId'>

/**
 * Waits until a CSS selector matches in the main frame's current document. Throws `TIMEOUT` after `waitMs`, and
 * `RENDER_ERROR` if the selector is invalid; both name the selector.
 */
export const awaitSelector = async (
  open: Waiting,
  selector: string,
  { waitMs, timeoutSeconds }: { waitMs: number; timeoutSeconds: number },
): Promise<void> => {
  const endsAt = performance.now() + waitMs
  const late = () => {
    const publicMessage = `Nothing matched wait_for_selector '${selector}' within ${timeoutSeconds} s.`
    return new AppError('TIMEOUT', { publicMessage })
  }
  const hasMatch = () =>
    usingSelector('wait_for_selector', selector, runInMainFrame(open, `${findFirst(selector)} !== null`))
  const untilMatched = async () => {
    while (performance.now() < endsAt) {
      try {
        if (await hasMatch()) return
      } catch (error) {
        if (error instanceof AppError || !open.session.isOpen()) throw error
      }
      await delay(pollMs)
    }
    throw late()
  }
  await within(untilMatched(), Math.max(1, waitMs), late)
}
