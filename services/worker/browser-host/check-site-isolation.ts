import type { Browser } from 'playwright'
import { AppError } from '#shared/errors/app-error.ts'

const loadMs = 10_000
const [page, frame] = ['http://page.test/', 'http://frame.test/'] as const

/**
 * Loads a page with a frame of another site, from memory. Throws `SERVICE_UNAVAILABLE` where both are in one process: a
 * page that takes over its renderer would then read what other sites answered to it, with the capture's cookies.
 */
export const checkSiteIsolation = async (browser: Browser): Promise<void> => {
  const context = await browser.newContext()
  try {
    await context.route('**', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: route.request().url() === page ? `<iframe src="${frame}"></iframe>` : 'frame',
      }),
    )
    const opened = await context.newPage()
    await opened.goto(page, { timeout: loadMs })
    const framed = opened.frames().find((each) => each.url() === frame)
    if (!framed) throw new AppError('SERVICE_UNAVAILABLE', { message: 'site isolation: the frame did not load' })
    // Playwright has a session of its own for no frame but one in another process than its parent.
    await context.newCDPSession(framed).catch((cause: unknown) => {
      throw new AppError('SERVICE_UNAVAILABLE', { message: 'Chromium does not isolate sites from each other', cause })
    })
  } finally {
    await context.close()
  }
}
