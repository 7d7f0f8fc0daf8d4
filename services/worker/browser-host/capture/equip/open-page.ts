import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Dialog, Page, Request } from 'playwright'
import { AppError } from '#shared/errors/app-error.ts'
import { classify } from '#worker/browser-host/capture/load/classify.ts'
import { emptyErrorPage, hostOf, netErrorIn } from '#worker/browser-host/capture/load/net-error.ts'
import type { Emulation } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { identityOf } from './identity.ts'
import { showIdentity } from './show-identity.ts'
import { screenFor, shapeWindow } from './window.ts'

/** A page that asks more often than this is left with its question. */
const dialogsMax = 10

/** The last navigation of the main frame that went to the network: where to, and what came of it. */
export type MainDocument = {
  url: string
  /** HTTP status of the answer, once there is one. */
  status: number | undefined
  netError: string | undefined
}

/** A fresh context with its only page, and what was noticed of it. */
export type OpenPage = {
  readonly browser: Browser
  readonly emulation: Emulation
  readonly context: BrowserContext
  readonly page: Page
  readonly session: CDPSession
  readonly mainFrameId: string
  readonly document: MainDocument
  /** Rejects with `RENDER_ERROR` once the renderer crashes; never resolves. */
  readonly crashed: Promise<never>
  /** Rejects with `CONNECTION_FAILED` once the document breaks off after its head: its load event would never come. */
  readonly cutOff: Promise<never>
}

const answerDialogs = (page: Page) => {
  let seen = 0
  page.on('dialog', (dialog: Dialog) => {
    seen += 1
    if (seen <= dialogsMax) dialog.dismiss().catch(() => {})
  })
}

const watchCrash = (page: Page): Promise<never> => {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  page.once('crash', () => reject(new AppError('RENDER_ERROR', { publicMessage: 'The page crashed the renderer.' })))
  return promise
}

/** The browser itself gives up a document for another one, a download or a stop. */
const givenUp = 'ERR_ABORTED'

const watchDocument = (page: Page): { document: MainDocument; cutOff: Promise<never> } => {
  const document: MainDocument = { url: '', status: undefined, netError: undefined }
  const { promise: cutOff, reject } = Promise.withResolvers<never>()
  cutOff.catch(() => {})
  const isMain = (request: Request) => request.isNavigationRequest() && request.frame() === page.mainFrame()
  page.on('request', (request) => {
    if (isMain(request)) Object.assign(document, { url: request.url(), status: undefined, netError: undefined })
  })
  page.on('response', (response) => {
    if (isMain(response.request())) document.status = response.status()
  })
  page.on('requestfailed', (request) => {
    if (!isMain(request)) return
    const netError = netErrorIn(request.failure()?.errorText)
    document.netError = netError
    if (document.status === undefined || netError === undefined || netError === givenUp) return
    if (netError !== emptyErrorPage) reject(classify({ netError, host: hostOf(document.url), refusal: undefined }))
  })
  return { document, cutOff }
}

/** Whether the page looks at a desktop's window and screen around it; elsewhere the viewport is all that there is. */
const isWindow = ({ browser, isMobile }: Emulation): boolean => browser === 'full' && !isMobile

const contextOptions = (emulation: Emulation, proxy: string): BrowserContextOptions => {
  const { width, height, scale, isMobile, timezone, isDark, isMotionReduced, geolocation } = emulation
  return {
    viewport: { width, height },
    deviceScaleFactor: scale,
    isMobile,
    hasTouch: isMobile,
    timezoneId: timezone,
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: isMotionReduced ? 'reduce' : 'no-preference',
    ...(geolocation && { geolocation, permissions: ['geolocation'] }),
    ...(isWindow(emulation) && { screen: screenFor(emulation) }),
    ...(emulation.browser === 'full' && { proxy: { server: proxy, bypass: '<-loopback>' } }),
    serviceWorkers: 'block',
    acceptDownloads: false,
  }
}

/** Opens the one page of a capture: nothing of another capture is in it, and nothing that it asks for is granted but a given location. */
export const openPage = async (browser: Browser, emulation: Emulation, proxy: string): Promise<OpenPage> => {
  const context = await browser.newContext(contextOptions(emulation, proxy))
  const page = await context.newPage()
  context.on('page', (popup) => void popup.close().catch(() => {}))
  answerDialogs(page)
  const session = await context.newCDPSession(page)
  const identity = identityOf(browser.version(), emulation.userAgent)
  const [{ frameTree }] = await Promise.all([session.send('Page.getFrameTree'), showIdentity(session, identity)])
  if (isWindow(emulation)) await shapeWindow(session, emulation)
  return {
    browser,
    emulation,
    context,
    page,
    session,
    mainFrameId: frameTree.frame.id,
    ...watchDocument(page),
    crashed: watchCrash(page),
  }
}
