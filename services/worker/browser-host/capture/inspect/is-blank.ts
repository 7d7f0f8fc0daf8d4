import sharp from 'sharp'

/** A picture of one colour takes fewer bytes per pixel than this in every format; others need not be looked at closely. */
const bytesPerPixelMax = 0.05

/** Lossy formats give one colour a few neighbours. */
const rangeMax = 6

/** Of so many pixels in a row, and of so many rows, one is looked at: what is smaller than that may be missed. */
const step = 4

/** Whether an encoded picture shows nothing but one colour, by a sample of its pixels. */
export const isBlank = async (picture: Buffer): Promise<boolean> => {
  const image = sharp(picture, { limitInputPixels: false })
  const { width, height } = await image.metadata()
  if (picture.length > 1000 + width * height * bytesPerPixelMax) return false
  const size = { width: Math.ceil(width / step), height: Math.ceil(height / step) }
  // The kernel takes pixels as they are: a mean of neighbours would hide a thin line.
  const { data, info } = await image
    .resize({ ...size, fit: 'fill', kernel: 'nearest', fastShrinkOnLoad: false })
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { channels } = info
  return data.every((value, at) => Math.abs(value - (data[at % channels] ?? 0)) <= rangeMax)
}
