import sharp from 'sharp'

type Raw = { readonly data: Buffer; readonly width: number; readonly height: number }

const pixelsOf = async (file: Buffer): Promise<Raw> => {
  const { data, info } = await sharp(file)
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

/** Number of distinct colours of an image. */
export const colours = async (file: Buffer): Promise<number> => {
  const { data } = await pixelsOf(file)
  const pixels = new Set<number>()
  for (let at = 0; at < data.length; at += 3) pixels.add(data.readUIntBE(at, 3))
  return pixels.size
}

/** Share of pixels, 0 to 1, that differ by more than `tolerance` in a channel; 1 if the sizes differ. */
export const difference = async (one: Buffer, two: Buffer, tolerance = 0): Promise<number> => {
  const [a, b] = await Promise.all([pixelsOf(one), pixelsOf(two)])
  if (a.width !== b.width || a.height !== b.height) return 1
  let differing = 0
  for (let at = 0; at < a.data.length; at += 3) {
    const far = [0, 1, 2].some(
      (channel) => Math.abs((a.data[at + channel] ?? 0) - (b.data[at + channel] ?? 0)) > tolerance,
    )
    if (far) differing += 1
  }
  return differing / (a.width * a.height)
}
