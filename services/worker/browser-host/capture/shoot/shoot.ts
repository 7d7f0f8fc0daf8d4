import { AppError } from '#shared/errors/app-error.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import type { ImageOutput, Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { isFinal } from './encode.ts'
import type { Frame } from './measure.ts'

const attemptsMax = 3

const clear = { color: { r: 0, g: 0, b: 0, a: 0 } }

/** Settings of a shot. */
export type ShotSettings = {
  readonly frame: Frame
  /** As in `Measurement`. */
  readonly zoom: number
  readonly subject: Subject
  readonly output: ImageOutput
}

/**
 * Whether a part of the page lies beyond the viewport. To shoot that, the browser forgets the page's fonts and shrinks the viewport to
 * one pixel for a moment. A page that notices, as some do, hides what it shows only while in view.
 */
const reachesBeyond = async (session: OpenPage['session'], { x, y, width, height }: Frame): Promise<boolean> => {
  const { cssVisualViewport: view } = await session.send('Page.getLayoutMetrics')
  const right = view.pageX + view.clientWidth
  const bottom = view.pageY + view.clientHeight
  return x < view.pageX || y < view.pageY || x + width > right || y + height > bottom
}

/** Takes the picture: an unresized JPEG as delivered, everything else as a PNG that is optimised for speed. */
export const shoot = async (
  { session }: Pick<OpenPage, 'session'>,
  { frame, zoom, subject, output }: ShotSettings,
): Promise<Buffer> => {
  const isWhole = subject.kind === 'element' || (subject.kind === 'full-page' && !subject.inSections)
  const isBeyondViewport = isWhole && (await reachesBeyond(session, frame))
  const encoding = isFinal(output)
    ? { format: 'jpeg' as const, quality: output.quality }
    : { format: 'png' as const, optimizeForSpeed: true }
  if (output.isTransparent) await session.send('Emulation.setDefaultBackgroundColorOverride', clear)
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { data } = await session.send('Page.captureScreenshot', {
        ...encoding,
        captureBeyondViewport: isBeyondViewport,
        clip: { ...frame, scale: zoom },
      })
      return Buffer.from(data, 'base64')
    } catch (cause) {
      // Occurs right after load on about one page in 150; the next attempt succeeds.
      const isTransient = String(cause).includes('Unable to capture screenshot') && attempt < attemptsMax
      if (!isTransient) throw new AppError('RENDER_ERROR', { message: `captureScreenshot: ${String(cause)}`, cause })
    }
  }
}
