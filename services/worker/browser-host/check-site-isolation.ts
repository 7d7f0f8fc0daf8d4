import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { Browser } from './browser/launch.ts'
import { type OpenPage, openPage } from './capture/page/open-page.ts'
import type { Emulation } from './capture/plan/plan-capture.ts'
import { longestStartMs } from '#worker/protocol/protocol.ts'

const [page, frame] = ['http://page.test/', 'http://frame.test/'] as const

/** Fulfills all requests of the page and its frames from memory. */
const fulfillFromMemory = async ({ browser, closed }: OpenPage): Promise<void> => {
  const session = await browser.attach(closed)
  session.on('Fetch.requestPaused', ({ requestId, request }) => {
    const html = request.url === page ? `<!doctype html><iframe src="${frame}"></iframe>` : 'frame'
    session
      .send('Fetch.fulfillRequest', {
        requestId,
        responseCode: 200,
        responseHeaders: [{ name: 'content-type', value: 'text/html' }],
        body: Buffer.from(html).toString('base64'),
      })
      .catch(() => {})
  })
  await session.send('Fetch.enable')
}

/**
 * Loads a page with a frame of another site, from memory. Throws `SERVICE_UNAVAILABLE` if both share a process: a page that
 * compromises its renderer could then read responses of other sites, requested with the capture's cookies.
 */
export const checkSiteIsolation = async (browser: Browser, emulation: Emulation, proxy: string): Promise<void> => {
  const open = await openPage(browser, emulation, proxy)
  try {
    await fulfillFromMemory(open)
    open.document.expectLoad()
    await open.session.send('Page.navigate', { url: page })
    const late = () => new AppError('SERVICE_UNAVAILABLE', { message: 'site isolation: the page did not load' })
    await within(open.document.loaded(), longestStartMs, late)
    // A frame in its page's process has no separate session.
    if (open.frameSessions().length > 1) return
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'Chromium does not isolate sites from each other' })
  } finally {
    await open.close()
  }
}
