import { AppError } from '#shared/errors/app-error.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'

/** Waits until a CSS selector matches something. Throws `TIMEOUT` after `waitMs`, `RENDER_ERROR` where it is no selector; both name it. */
export const awaitSelector = async (
  { page }: Pick<OpenPage, 'page'>,
  selector: string,
  wait: { waitMs: number; timeoutSeconds: number },
): Promise<void> => {
  try {
    await page.waitForSelector(`css=${selector}`, { state: 'attached', timeout: Math.max(1, wait.waitMs) })
  } catch (cause) {
    const { name, message } = cause as Error
    if (name === 'TimeoutError') {
      const publicMessage = `Nothing matched wait_for_selector '${selector}' within ${wait.timeoutSeconds} s.`
      throw new AppError('TIMEOUT', { publicMessage, cause })
    }
    if (/while parsing css selector|is not a valid selector/i.test(message)) {
      throw new AppError('RENDER_ERROR', {
        publicMessage: `wait_for_selector '${selector}' is not a CSS selector.`,
        cause,
      })
    }
    throw cause
  }
}
