import type { Browser } from '#worker/browser-host/browser/launch.ts'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import type { Emulation } from '#worker/browser-host/capture/plan/plan-capture.ts'

/** What Chromium says of itself but for the word "Headless", which sites take for a robot. */
const userAgentOf = ({ version }: Pick<Browser, 'version'>): string =>
  `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version.split('.')[0]}.0.0.0 Safari/537.36`

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

/** The size of the viewport and its pixels. */
export const emulateSize = (session: Session, { width, height, scale, isMobile }: Emulation): Promise<void> =>
  session.send('Emulation.setDeviceMetricsOverride', {
    width,
    height,
    deviceScaleFactor: scale,
    mobile: isMobile,
    screenWidth: width,
    screenHeight: height,
    ...(isMobile && { screenOrientation: { type: 'portraitPrimary', angle: 0 } }),
  })

/** What a frame finds of its browser, whether it is the page itself or lives in another process. */
export const emulate = async (browser: Browser, session: Session, emulation: Emulation): Promise<void> => {
  const { userAgent, isMobile, timezone, geolocation } = emulation
  await Promise.all([
    session.send('Emulation.setUserAgentOverride', {
      userAgent: userAgent ?? userAgentOf(browser),
      acceptLanguage: 'en-US',
    }),
    session.send('Emulation.setTimezoneOverride', { timezoneId: timezone }),
    session.send('Emulation.setLocaleOverride', { locale: 'en-US' }),
    emulateMedia(session, emulation),
    ...(isMobile ? [session.send('Emulation.setTouchEmulationEnabled', { enabled: true })] : []),
    ...(geolocation ? [session.send('Emulation.setGeolocationOverride', { accuracy: 0, ...geolocation })] : []),
  ])
}
