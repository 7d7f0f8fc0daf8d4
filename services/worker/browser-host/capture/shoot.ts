import type { CaptureOptions } from '#shared/capture/options.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { OpenPage } from './open-page.ts'

/** A part of the page in CSS pixels, `x` and `y` from the top left of the document. */
export type Frame = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }

const triesMax = 3

/** Largest side of an image in each format, in pixels; beyond it Chromium or the encoder fails without saying so. */
const sideMax: Partial<Record<CaptureOptions['format'], number>> = { webp: 16_383, jpeg: 65_535 }

/**
 * Largest full page in pixels, where its width is not the viewport's own: what is wider is cut. Each pixel takes four bytes
 * of a slot's memory, in several places at a time.
 */
const areaMax = 40_000_000

/**
 * The part of the page that a capture shows: the viewport where it stands, or the whole page as far as `heightMax` CSS
 * pixels on either side and what memory allows, and whether that cut something off.
 */
export const measure = async (
  { session }: Pick<OpenPage, 'session'>,
  options: Pick<CaptureOptions, 'width' | 'height' | 'full_page'>,
  heightMax: number,
): Promise<{ frame: Frame; isTruncated: boolean }> => {
  const { cssContentSize, cssVisualViewport } = await session.send('Page.getLayoutMetrics')
  if (!options.full_page) {
    const { pageX: x, pageY: y } = cssVisualViewport
    return { frame: { x, y, width: options.width, height: options.height }, isTruncated: false }
  }
  const whole = {
    width: Math.max(options.width, Math.ceil(cssContentSize.width)),
    height: Math.max(options.height, Math.ceil(cssContentSize.height)),
  }
  const height = Math.min(whole.height, heightMax)
  const widthMax = Math.min(heightMax, Math.max(options.width, Math.floor(areaMax / height)))
  const width = Math.min(whole.width, widthMax)
  return { frame: { x: 0, y: 0, width, height }, isTruncated: width < whole.width || height < whole.height }
}

/** Throws `RENDER_ERROR` where the format cannot hold an image of this size, in pixels. */
export const assertFits = (format: CaptureOptions['format'], size: { width: number; height: number }): void => {
  const most = sideMax[format]
  if (most === undefined || Math.max(size.width, size.height) <= most) return
  const publicMessage = `The image would be ${size.width} x ${size.height} px; ${format} holds at most ${most} px on a side. Use png, or a smaller page.`
  throw new AppError('RENDER_ERROR', { publicMessage })
}

/** Takes the picture: JPEG as it will be delivered, everything else as a PNG that was made for speed, not size. */
export const shoot = async (
  { session }: Pick<OpenPage, 'session'>,
  frame: Frame,
  options: Pick<CaptureOptions, 'format' | 'quality' | 'full_page'>,
): Promise<Buffer> => {
  const output =
    options.format === 'jpeg'
      ? { format: 'jpeg' as const, quality: options.quality }
      : { format: 'png' as const, optimizeForSpeed: true }
  for (let tries = 1; ; tries += 1) {
    try {
      const { data } = await session.send('Page.captureScreenshot', {
        ...output,
        captureBeyondViewport: options.full_page,
        clip: { ...frame, scale: 1 },
      })
      return Buffer.from(data, 'base64')
    } catch (cause) {
      // Seen right after load on about one page in 150; the next try succeeds.
      const isPassing = String(cause).includes('Unable to capture screenshot') && tries < triesMax
      if (!isPassing) throw new AppError('RENDER_ERROR', { message: `captureScreenshot: ${String(cause)}`, cause })
    }
  }
}
