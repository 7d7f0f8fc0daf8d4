import { within } from '#shared/process/within.ts'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import type { Browser } from '#worker/browser-host/browser/launch.ts'
import type { Emulation } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { createIdentity } from './identity.ts'

type Size = { readonly width: number; readonly height: number }

/** CSS pixels; tabs and address bar above the page. */
const toolbarHeight = 85

const commonScreens: readonly Size[] = [
  { width: 1920, height: 1080 },
  { width: 2560, height: 1440 },
  { width: 3840, height: 2160 },
]

/** The browser's window around a viewport. */
const windowAround = ({ width, height }: Size): Size => ({ width, height: height + toolbarHeight })

/** The smallest common screen that fits the window around a viewport; if none does, one of the window's size. */
const screenFor = (viewport: Size): Size => {
  const window = windowAround(viewport)
  return commonScreens.find(({ width, height }) => width >= window.width && height >= window.height) ?? window
}

/** Resizes the page's window to a desktop browser's size; does not change the emulated viewport. */
export const shapeWindow = async (session: Pick<Session, 'send'>, viewport: Size): Promise<void> => {
  const { windowId } = await session.send('Browser.getWindowForTarget')
  await session.send('Browser.setWindowBounds', { windowId, bounds: windowAround(viewport) })
}

/** Defaults of headed Chromium; headless-shell has others. */
const fontFamilies = {
  standard: 'Times New Roman',
  fixed: 'Monospace',
  serif: 'Times New Roman',
  sansSerif: 'Arial',
  cursive: 'Comic Sans MS',
  fantasy: 'Impact',
}

/** Sets what media queries report; `fallback` is the medium unless one is requested, '' the browser's own. */
const emulateMedia = (
  session: Session,
  { isDark, isMotionReduced, media }: Emulation,
  fallback: '' | 'print' | 'screen' = '',
): Promise<void> =>
  session.send('Emulation.setEmulatedMedia', {
    media: media ?? fallback,
    features: [
      { name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' },
      { name: 'prefers-reduced-motion', value: isMotionReduced ? 'reduce' : 'no-preference' },
    ],
  })

/** Longest wait, in milliseconds, for frames in other processes, which may hang or end meanwhile. */
const framesMs = 500

/** `emulateMedia` for the page and its frames in other processes. */
export const emulateMediaEverywhere = async (
  { session, frameSessions }: { readonly session: Session; readonly frameSessions: () => readonly Session[] },
  emulation: Emulation,
  fallback: 'print' | 'screen',
): Promise<void> => {
  const set = (each: Session) => emulateMedia(each, emulation, fallback)
  const frames = Promise.allSettled(frameSessions().slice(1).map(set))
  const late = () => new Error('the frames did not respond in time')
  await Promise.all([set(session), within(frames, framesMs, late).catch(() => {})])
}

/** Whether the page can observe a desktop window and screen; otherwise both have the size of the viewport. */
export const isWindow = ({ browser, isMobile }: Emulation): boolean => browser === 'full' && !isMobile

const chooseOrientation = ({ width, height }: Size) =>
  width > height ? ({ type: 'landscapePrimary', angle: 90 } as const) : ({ type: 'portraitPrimary', angle: 0 } as const)

/** Sets the size of viewport and screen, and the device scale factor; `height` replaces the viewport's. */
export const emulateSize = (session: Session, emulation: Emulation, height = emulation.height): Promise<void> => {
  const { width, scale, isMobile } = emulation
  const screen = isWindow(emulation) ? screenFor(emulation) : emulation
  return session.send('Emulation.setDeviceMetricsOverride', {
    width,
    height,
    deviceScaleFactor: scale,
    mobile: isMobile,
    screenWidth: screen.width,
    screenHeight: screen.height,
    ...(isMobile && { screenOrientation: chooseOrientation(emulation) }),
  })
}

/** Sets user agent and locale, for frames and workers of all kinds. */
export const emulateIdentity = async ({ version }: Browser, session: Session, emulation: Emulation): Promise<void> => {
  await Promise.all([
    session.send('Emulation.setUserAgentOverride', createIdentity(version, emulation)),
    session.send('Emulation.setLocaleOverride', { locale: emulation.locale }),
  ])
}

/** Sets what a frame can observe of its browser; for the page and for frames in other processes. */
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
