import { AppError } from '#shared/errors/app-error.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import { usingSelector } from '#worker/browser-host/capture/prepare/selector-errors.ts'

/** Waits until a CSS selector matches something. Throws `TIMEOUT` after `waitMs`, `RENDER_ERROR` where it is no selector; both name it. */
export const awaitSelector = async (
  { page }: Pick<OpenPage, 'page'>,
  selector: string,
  wait: { waitMs: number; timeoutSeconds: number },
): Promise<void> => {
  const timeout = Math.max(1, wait.waitMs)
  const waiting = page.waitForSelector(`css=${selector}`, { state: 'attached', timeout })
  try {
    await usingSelector('wait_for_selector', selector, waiting)
  } catch (cause) {
    if ((cause as Error).name !== 'TimeoutError') throw cause
    const publicMessage = `Nothing matched wait_for_selector '${selector}' within ${wait.timeoutSeconds} s.`
    throw new AppError('TIMEOUT', { publicMessage, cause })
  }
}
