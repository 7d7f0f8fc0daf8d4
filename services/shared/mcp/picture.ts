import type { ContentBlock } from '@modelcontextprotocol/sdk/types.js'
import type { Image, Screenshot } from '#client/shutterfleet.js'
import { renditionName } from '#shared/capture/files.ts'
import { type CaptureParameters, effectiveScale, withDefaults } from '#shared/capture/options.ts'
import { devices } from '#shared/capture/parameters/devices.ts'
import { type Arguments, textBlock, type ToolCall } from './tool.ts'

/** Largest picture in a result: 5 MB as base64, above which models refuse a whole conversation. */
const pictureBytesMax = 3_750_000

/** Pictures that models read. */
const pictureTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/webp']

/** Bytes of a pixel in the largest PNG: alpha, and a byte of filter for each row. */
const pngPixelBytes = 3.6

/** Device pixels of a viewport above which an image admits no rendition, whose pixels count together. */
const sharedPixelsMax = 40_000_000

/** Whether a picture may need a smaller rendition that its load can have: not a PDF, nor a viewport that surely fits into a result. */
const needsRendition = (input: CaptureParameters, side: number): boolean => {
  const { device = 'desktop', format = 'png', full_page: isFull = false, selector } = input
  // The service refuses an unknown device.
  if (!(device in devices) || format === 'pdf') return false
  const { width, height, ...options } = withDefaults(input)
  const scale = effectiveScale(options)
  const pixels = width * height * scale ** 2
  const isKnown = !isFull && selector === undefined && format !== 'avif' && format !== 'tiff'
  const fits = Math.max(width, height) * scale <= side && pixels * pngPixelBytes <= pictureBytesMax
  return pixels <= sharedPixelsMax && !(isKnown && fits)
}

/** The input with a rendition that a result may contain, made of the same load; unchanged if the picture fits anyway. */
export const withSmallPicture = (input: Arguments, side: number): Arguments => {
  const parameters: CaptureParameters = input
  if (parameters.renditions !== undefined || !needsRendition(parameters, side)) return input
  const { resize_width: width = side, resize_height: height = side, resize_mode: mode } = parameters
  const scale = Math.min(1, side / Math.max(width, height))
  const size = { resize_width: Math.round(width * scale), resize_height: Math.round(height * scale) }
  return { ...input, renditions: [{ format: 'jpeg', ...size, ...(mode !== undefined && { resize_mode: mode }) }] }
}

type Picture = {
  readonly mimeType: string | undefined
  readonly side: number
  readonly bytes: number
  readonly url: string
  readonly download: (options: { readonly signal: AbortSignal }) => Promise<Image>
}

/** The images of a completed capture, its own first. */
const pictures = ({ client }: ToolCall, record: Screenshot): readonly Picture[] => {
  const { id, image_url: url = '', mime_type: mimeType, file_size: bytes = 0, width = 0, height = 0 } = record
  const own = { mimeType, side: Math.max(width, height), bytes, url, download: client.image.bind(client, id) }
  const renditions = (record.renditions ?? []).map((each, at) => ({
    mimeType: each.mime_type,
    side: Math.max(each.width, each.height),
    bytes: each.file_size,
    url: each.url,
    download: client.file.bind(client, id, renditionName(at)),
  }))
  return [own, ...renditions]
}

/** Whether a result may contain it. A PDF is handed over as a file, whatever the size of its pages. */
const mayContain = ({ mimeType = '', side, bytes }: Picture, sideMax: number): boolean => {
  if (bytes > pictureBytesMax) return false
  return mimeType === 'application/pdf' || (pictureTypes.includes(mimeType) && side <= sideMax)
}

const fileBlock = ({ bytes, contentType: mimeType }: Image, uri: string): ContentBlock => {
  const blob = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  if (pictureTypes.includes(mimeType)) return { type: 'image', data: blob, mimeType }
  return { type: 'resource', resource: { uri, mimeType, blob } }
}

/** The picture of a completed capture, scaled down if it is too large for a result, beside the address of the full one then. */
export const pictureBlocks = async (
  call: ToolCall,
  record: Screenshot,
  side: number,
): Promise<readonly ContentBlock[]> => {
  const { image_url: full = '' } = record
  const picture = pictures(call, record).find((each) => mayContain(each, side))
  if (!picture) {
    const bounds = `larger than ${side} pixels a side or ${pictureBytesMax} bytes`
    return [textBlock(`The picture is ${bounds} and not included: set resize_width, or download ${full}`)]
  }
  const { bytes, url, download } = picture
  if (!call.reserve(bytes)) {
    return [textBlock(`The picture is not included, because memory is short now: download ${url}`)]
  }
  const block = fileBlock(await download({ signal: call.signal }), url)
  return url === full ? [block] : [block, textBlock(`The picture is scaled down; the full one is at ${full}`)]
}
