import sharp, { type Sharp } from 'sharp'
import { AppError } from '#shared/errors/app-error.ts'
import type { ImageOutput } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { isFinal } from './shoot.ts'

/** An image as it is delivered; `width` and `height` in its own pixels. */
export type Image = { readonly bytes: Buffer; readonly width: number; readonly height: number }

type Size = { readonly width: number; readonly height: number }

/** Largest side of an image in each format, in pixels; beyond it Chromium or the encoder fails without saying so. */
const sideMax: Partial<Record<ImageOutput['format'], number>> = { webp: 16_383, jpeg: 65_535, avif: 16_384 }

/** Images up to this size are worth the time that a smaller AVIF takes: 300 ms for a megapixel instead of 60. */
const avifSmallPixels = 500_000

/** Above this size files may be larger than they could be: the picture must be made within its share of the deadline. */
const largePixels = 25_000_000

/**
 * The browser's fast png has more bytes for each pixel than this where it shows photographs and gradients. There, filters
 * at a moderate level make files as small as Playwright's, which are 1.6 times as large without; text and flat colour are as
 * small or smaller without, in half the time.
 */
const plainBytesPerPixel = 0.25

/** The size of an image that fits inside `fit`, its aspect kept, never enlarged. */
export const fitted = ({ width, height }: Size, fit: ImageOutput['fit']): Size => {
  const scale = Math.min(1, (fit?.width ?? width) / width, (fit?.height ?? height) / height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/** Throws `RENDER_ERROR` where the format cannot hold an image of this size, in pixels. */
export const assertFits = ({ format, fit }: Pick<ImageOutput, 'format' | 'fit'>, shot: Size): void => {
  const { width, height } = fitted(shot, fit)
  const most = sideMax[format]
  if (most === undefined || Math.max(width, height) <= most) return
  const publicMessage = `The image would be ${width} x ${height} px; ${format} holds at most ${most} px on a side. Use png, or a smaller page.`
  throw new AppError('RENDER_ERROR', { publicMessage })
}

const encoderOf = (
  image: Sharp,
  { format, quality }: ImageOutput,
  { size: { width, height }, isPlain }: { readonly size: Size; readonly isPlain: boolean },
): Sharp => {
  if (format === 'jpeg') return image.jpeg({ quality })
  if (format === 'webp') return image.webp({ quality, effort: 2 })
  if (format === 'avif') return image.avif({ quality, effort: width * height <= avifSmallPixels ? 2 : 0 })
  const isLarge = width * height > largePixels
  if (format === 'tiff') return image.tiff({ compression: isLarge ? 'lzw' : 'deflate', predictor: 'horizontal' })
  return image.png(isPlain ? { compressionLevel: 6 } : { compressionLevel: isLarge ? 2 : 4, adaptiveFiltering: true })
}

/** Turns what the browser shot, an image of `shot` pixels, into what is delivered. */
export const encode = async (picture: Buffer, output: ImageOutput, shot: Size): Promise<Image> => {
  if (isFinal(output)) return { bytes: picture, ...shot }
  const size = fitted(shot, output.fit)
  const read = sharp(picture, { limitInputPixels: false })
  const opaque = output.isTransparent ? read : read.removeAlpha()
  const isSmaller = size.width < shot.width || size.height < shot.height
  const image = isSmaller ? opaque.resize({ ...size, fit: 'fill' }) : opaque
  const isPlain = picture.length <= plainBytesPerPixel * shot.width * shot.height
  const bytes = await encoderOf(image, output, { size, isPlain }).toBuffer()
  return { bytes, ...size }
}
