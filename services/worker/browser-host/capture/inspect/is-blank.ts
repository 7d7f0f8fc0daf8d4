import sharp from 'sharp'

/** In every format, a picture of one colour has fewer bytes per pixel than this; others are not decoded. */
const bytesPerPixelMax = 0.05

/** Lossy formats turn one colour into a few similar ones. */
const rangeMax = 6

/** Samples one of this many pixels in a row, and one of this many rows; smaller details may be missed. */
const step = 4

/** Whether an encoded picture has a single colour, by a sample of its pixels. */
export const isBlank = async (picture: Buffer): Promise<boolean> => {
  const image = sharp(picture, { limitInputPixels: false })
  const { width, height } = await image.metadata()
  if (picture.length > 1000 + width * height * bytesPerPixelMax) return false
  const size = { width: Math.ceil(width / step), height: Math.ceil(height / step) }
  // This kernel keeps pixels as they are: averaging neighbours would hide a thin line.
  const { data, info } = await image
    .resize({ ...size, fit: 'fill', kernel: 'nearest', fastShrinkOnLoad: false })
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { channels } = info
  return data.every((value, at) => Math.abs(value - (data[at % channels] ?? 0)) <= rangeMax)
}
