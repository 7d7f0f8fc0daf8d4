import sharp, { type ResizeOptions, type Sharp } from 'sharp'
import { AppError } from '#shared/errors/app-error.ts'
import type { ImageOutput } from '#worker/browser-host/capture/plan/plan-capture.ts'

/** A delivered image; `width` and `height` in pixels. */
export type Image = { readonly bytes: Buffer; readonly width: number; readonly height: number }

type Size = { readonly width: number; readonly height: number }

/** Largest side of an image by format, in pixels; above it Chromium or the encoder fails silently. */
const sideMax: Partial<Record<ImageOutput['format'], number>> = { webp: 16_383, jpeg: 65_535, avif: 16_384 }

/** Up to this size, a smaller AVIF is worth the time: 300 ms for a megapixel instead of 60. */
const avifSmallPixels = 500_000

/** Above this size, encoding favours speed over file size, to stay within the deadline. */
const largePixels = 25_000_000

/**
 * The browser's fast PNG exceeds this for photographs and gradients. For those, filters at a moderate level make files as
 * small as Playwright's; without filters they are 1.6 times as large. Text and flat colour are as small or smaller
 * without filters, in half the time.
 */
const plainBytesPerPixel = 0.25

/** The size of an image scaled down to fit inside `fit`; keeps the aspect ratio, never enlarges. */
export const fitInside = ({ width, height }: Size, fit: ImageOutput['fit']): Size => {
  const scale = Math.min(1, (fit?.width ?? width) / width, (fit?.height ?? height) / height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/** Throws `RENDER_ERROR` if the format does not support an image of this size, in pixels. */
export const assertFits = ({ format, fit }: Pick<ImageOutput, 'format' | 'fit'>, shot: Size): void => {
  const { width, height } = fitInside(shot, fit)
  const most = sideMax[format]
  if (most === undefined || Math.max(width, height) <= most) return
  const publicMessage = `The image would be ${width} x ${height} px; ${format} holds at most ${most} px on a side. Use png, or a smaller page.`
  throw new AppError('RENDER_ERROR', { publicMessage, blame: 'caller' })
}

const chooseEncoder = (
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

type Placed = Pick<ImageOutput, 'fit' | 'placing'>

/** The size of a placed image: exactly `fit`, except that what covers it is never enlarged. */
const placedSize = (shot: Size, { fit, placing }: Placed): Size => {
  const { width = shot.width, height = shot.height } = fit ?? {}
  if (placing?.mode === 'contain') return { width, height }
  return { width: Math.min(width, shot.width), height: Math.min(height, shot.height) }
}

const resizing = ({ placing, isTransparent }: ImageOutput, size: Size): ResizeOptions => {
  if (!placing) return { ...size, fit: 'fill' }
  const background = { r: 255, g: 255, b: 255, alpha: isTransparent ? 0 : 1 }
  return { ...size, fit: placing.mode, position: placing.position, background, withoutEnlargement: true }
}

/** Whether the browser's picture is delivered without another encoding. */
export const isFinal = ({ format, fit }: ImageOutput): boolean => format === 'jpeg' && fit === undefined

const flatten = (image: Sharp, { isFlattened = false }: ImageOutput): Sharp =>
  isFlattened ? image.flatten({ background: 'white' }) : image.removeAlpha()

/** First byte of a JPEG. */
const jpegStart = 0xff

/** Encodes the browser's picture, whose size is `shot` in pixels, as the delivered image. */
export const encode = async (picture: Buffer, output: ImageOutput, shot: Size): Promise<Image> => {
  // A picture for renditions too is a PNG.
  if (isFinal(output) && picture[0] === jpegStart) return { bytes: picture, ...shot }
  const size = output.placing ? placedSize(shot, output) : fitInside(shot, output.fit)
  const read = sharp(picture, { limitInputPixels: false })
  const opaque = output.isTransparent ? read : flatten(read, output)
  const isResized = size.width !== shot.width || size.height !== shot.height
  const image = isResized ? opaque.resize(resizing(output, size)) : opaque
  const isPlain = picture.length <= plainBytesPerPixel * shot.width * shot.height
  const bytes = await chooseEncoder(image, output, { size, isPlain }).toBuffer()
  return { bytes, ...size }
}
