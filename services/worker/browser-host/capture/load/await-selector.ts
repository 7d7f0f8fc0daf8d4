import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { findFirst, usingSelector } from '#worker/browser-host/capture/page/selectors.ts'
import { runInOwnWorld } from '#worker/browser-host/capture/page/world.ts'

const lookMs = 50

type Waiting = Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>

/** Looks for a match until `endsAt`, in whatever document the page shows. */
const untilMatched = async (open: Waiting, selector: string, endsAt: number): Promise<void> => {
  while (performance.now() < endsAt) {
    try {
      if (await usingSelector('wait_for_selector', selector, runInOwnWorld(open, `${findFirst(selector)} !== null`)))
        return
    } catch (error) {
      if (error instanceof AppError || !open.session.isOpen()) throw error
    }
    await delay(lookMs)
  }
}

/** Waits until a CSS selector matches something. Throws `TIMEOUT` after `waitMs`, `RENDER_ERROR` where it is no selector; both name it. */
export const awaitSelector = async (
  open: Waiting,
  selector: string,
  { waitMs, timeoutSeconds }: { waitMs: number; timeoutSeconds: number },
): Promise<void> => {
  const late = () => {
    const publicMessage = `Nothing matched wait_for_selector '${selector}' within ${timeoutSeconds} s.`
    return new AppError('TIMEOUT', { publicMessage })
  }
  await within(untilMatched(open, selector, performance.now() + waitMs), Math.max(1, waitMs), late)
}
