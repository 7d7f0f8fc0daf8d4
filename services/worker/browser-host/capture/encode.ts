import sharp from 'sharp'
import type { CaptureOptions } from '#shared/capture/options.ts'
import { AppError } from '#shared/errors/app-error.ts'

/** Turns what the browser shot into the format that was asked for. */
export const encode = async (
  shot: Buffer,
  { format, quality }: Pick<CaptureOptions, 'format' | 'quality'>,
): Promise<Buffer> => {
  const image = () => sharp(shot, { limitInputPixels: false })
  if (format === 'jpeg') return shot
  if (format === 'png') return image().png({ compressionLevel: 4, adaptiveFiltering: true }).toBuffer()
  if (format === 'webp') return image().webp({ quality, effort: 2 }).toBuffer()
  throw new AppError('RENDER_ERROR', { publicMessage: `The format ${format} is not served.` })
}
