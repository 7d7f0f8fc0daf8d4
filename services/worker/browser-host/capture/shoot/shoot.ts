import { AppError } from '#shared/errors/app-error.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import type { ImageOutput, Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'
import type { Frame } from './measure.ts'

const triesMax = 3

const clear = { color: { r: 0, g: 0, b: 0, a: 0 } }

/** What is shot and how. */
export type Shooting = {
  readonly frame: Frame
  /** As `Measured` has it. */
  readonly zoom: number
  readonly subject: Subject
  readonly output: ImageOutput
}

/** Whether the browser's own picture is what will be delivered. */
export const isFinal = ({ format, fit }: ImageOutput): boolean => format === 'jpeg' && fit === undefined

/** Takes the picture: JPEG as it will be delivered, everything else as a PNG that was made for speed, not size. */
export const shoot = async (
  { session }: Pick<OpenPage, 'session'>,
  { frame, zoom, subject, output }: Shooting,
): Promise<Buffer> => {
  const encoding = isFinal(output)
    ? { format: 'jpeg' as const, quality: output.quality }
    : { format: 'png' as const, optimizeForSpeed: true }
  if (output.isTransparent) await session.send('Emulation.setDefaultBackgroundColorOverride', clear)
  for (let tries = 1; ; tries += 1) {
    try {
      const { data } = await session.send('Page.captureScreenshot', {
        ...encoding,
        captureBeyondViewport: subject.kind !== 'viewport',
        clip: { ...frame, scale: zoom },
      })
      return Buffer.from(data, 'base64')
    } catch (cause) {
      // Seen right after load on about one page in 150; the next try succeeds.
      const isPassing = String(cause).includes('Unable to capture screenshot') && tries < triesMax
      if (!isPassing) throw new AppError('RENDER_ERROR', { message: `captureScreenshot: ${String(cause)}`, cause })
    }
  }
}
