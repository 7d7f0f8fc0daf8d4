import { promisify } from 'node:util'
import { crc32, deflate } from 'node:zlib'
import { type CaptureOptions, effectiveScale } from '#shared/capture/options.ts'

const deflated = promisify<Buffer, Buffer>(deflate)

/** The grey of the placeholder. */
const colour = [0xe5, 0xe7, 0xeb]

/** A chunk of a PNG: length, type, data, checksum. */
const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

/** Draws a PNG of one grey, with one bit per pixel: at 3840 by 2160 about a kilobyte. E-mail programs show no SVG. */
export const drawPlaceholder = async (width: number, height: number): Promise<Buffer> => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // One bit per pixel, each the index of a colour.
  header.set([1, 3], 8)
  const rowBytes = 1 + Math.ceil(width / 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(colour)),
    chunk('IDAT', await deflated(Buffer.alloc(rowBytes * height))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Longest side of a placeholder, in pixels. */
const sideMax = 3840

type SizeOptions = Pick<CaptureOptions, 'clip' | 'width' | 'height' | 'resize_width' | 'resize_height'> &
  Parameters<typeof effectiveScale>[0]

/** The size of the image that a capture of the viewport gives, as far as it is known before; at most 3840 pixels on each side. */
export const placeholderSize = (options: SizeOptions): { readonly width: number; readonly height: number } => {
  const { width, height } = options.clip ?? options
  const scale = effectiveScale(options)
  const ratio = Math.min(
    scale,
    (options.resize_width ?? sideMax) / width,
    (options.resize_height ?? sideMax) / height,
    sideMax / Math.max(width, height),
  )
  return { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) }
}
