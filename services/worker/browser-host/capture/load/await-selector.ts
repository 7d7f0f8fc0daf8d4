import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { findFirst, usingSelector } from '#worker/browser-host/capture/page/selectors.ts'
import { runInOwnWorld } from '#worker/browser-host/capture/page/world.ts'

const lookMs = 50

type Waiting = Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>

/**
 * Waits until a CSS selector matches something, in whatever document the page shows. Throws `TIMEOUT` after `waitMs`,
 * `RENDER_ERROR` where it is no selector; both name it.
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
  const look = () =>
    usingSelector('wait_for_selector', selector, runInOwnWorld(open, `${findFirst(selector)} !== null`))
  const untilMatched = async () => {
    while (performance.now() < endsAt) {
      try {
        if (await look()) return
      } catch (error) {
        if (error instanceof AppError || !open.session.isOpen()) throw error
      }
      await delay(lookMs)
    }
    throw late()
  }
  await within(untilMatched(), Math.max(1, waitMs), late)
}
