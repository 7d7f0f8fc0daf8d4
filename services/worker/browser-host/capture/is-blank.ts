import sharp from 'sharp'

/** A picture of one colour takes fewer bytes per pixel than this in every format; others need not be looked at closely. */
const bytesPerPixelMax = 0.05

/** Lossy formats give one colour a few neighbours. */
const rangeMax = 6

/** Whether an encoded picture shows nothing but one colour. */
export const isBlank = async (picture: Buffer): Promise<boolean> => {
  const image = sharp(picture, { limitInputPixels: false })
  const { width, height } = await image.metadata()
  if (picture.length > 1000 + width * height * bytesPerPixelMax) return false
  const { channels } = await image.stats()
  return channels.every(({ min, max }) => max - min <= rangeMax)
}
