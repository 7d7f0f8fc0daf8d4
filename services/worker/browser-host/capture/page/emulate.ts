import type { Session } from '#worker/browser-host/browser/connection.ts'
import type { Browser } from '#worker/browser-host/browser/launch.ts'
import type { Emulation } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { identityOf } from './identity.ts'

type Size = { readonly width: number; readonly height: number }

/** CSS pixels of tabs and address bar above the page. */
const toolbarHeight = 85

const usualScreens: readonly Size[] = [
  { width: 1920, height: 1080 },
  { width: 2560, height: 1440 },
  { width: 3840, height: 2160 },
]

/** The browser's window around a viewport. */
const windowAround = ({ width, height }: Size): Size => ({ width, height: height + toolbarHeight })

/** The smallest usual screen that has room for the window around a viewport; none smaller than the window. */
const screenFor = (viewport: Size): Size => {
  const window = windowAround(viewport)
  return usualScreens.find(({ width, height }) => width >= window.width && height >= window.height) ?? window
}

/** Gives the page a window of a desktop's shape; the viewport stays as it is emulated. */
export const shapeWindow = async (session: Pick<Session, 'send'>, viewport: Size): Promise<void> => {
  const { windowId } = await session.send('Browser.getWindowForTarget')
  await session.send('Browser.setWindowBounds', { windowId, bounds: windowAround(viewport) })
}

/** Those of Chromium with a window; headless-shell has others where a page names none. */
const fontFamilies = {
  standard: 'Times New Roman',
  fixed: 'Monospace',
  serif: 'Times New Roman',
  sansSerif: 'Arial',
  cursive: 'Comic Sans MS',
  fantasy: 'Impact',
}

/** What media queries see; `media` '' is the browser's own. */
export const emulateMedia = (
  session: Session,
  { isDark, isMotionReduced }: Emulation,
  media: '' | 'screen' = '',
): Promise<void> =>
  session.send('Emulation.setEmulatedMedia', {
    media,
    features: [
      { name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' },
      { name: 'prefers-reduced-motion', value: isMotionReduced ? 'reduce' : 'no-preference' },
    ],
  })

/** Whether the page looks at a desktop's window and screen around it; elsewhere the viewport is all that there is. */
export const isWindow = ({ browser, isMobile }: Emulation): boolean => browser === 'full' && !isMobile

/** The size of the viewport, its pixels, and the screen. */
export const emulateSize = (session: Session, emulation: Emulation): Promise<void> => {
  const { width, height, scale, isMobile } = emulation
  const screen = isWindow(emulation) ? screenFor(emulation) : { width, height }
  return session.send('Emulation.setDeviceMetricsOverride', {
    width,
    height,
    deviceScaleFactor: scale,
    mobile: isMobile,
    screenWidth: screen.width,
    screenHeight: screen.height,
    ...(isMobile && { screenOrientation: { type: 'portraitPrimary', angle: 0 } }),
  })
}

/** The browser's user agent, and the language of dates and numbers: for frames and workers of all kinds. */
export const emulateIdentity = async ({ version }: Browser, session: Session, emulation: Emulation): Promise<void> => {
  await Promise.all([
    session.send('Emulation.setUserAgentOverride', identityOf(version, emulation.userAgent)),
    session.send('Emulation.setLocaleOverride', { locale: 'en-US' }),
  ])
}

/** What a frame finds of its browser, whether it is the page itself or lives in another process. */
export const emulate = async (browser: Browser, session: Session, emulation: Emulation): Promise<void> => {
  const { isMobile, timezone, geolocation } = emulation
  await Promise.all([
    emulateIdentity(browser, session, emulation),
    session.send('Emulation.setTimezoneOverride', { timezoneId: timezone }),
    session.send('Page.setFontFamilies', { fontFamilies }),
    emulateMedia(session, emulation),
    ...(isMobile ? [session.send('Emulation.setTouchEmulationEnabled', { enabled: true })] : []),
    ...(geolocation ? [session.send('Emulation.setGeolocationOverride', { accuracy: 0, ...geolocation })] : []),
  ])
}
