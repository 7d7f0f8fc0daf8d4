import sharp from 'sharp'

const window = 8
/** The constants of Wang et al. 2004 for eight bits. */
const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2]

type Luma = { readonly data: Buffer; readonly width: number; readonly height: number }

const lumaOf = async (file: Uint8Array): Promise<Luma> => {
  const flat = sharp(file).flatten({ background: 'white' }).greyscale()
  const { data, info } = await flat.raw().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

/** Undefined if both windows have the same single value: an empty area has no structure. */
const similarityAt = (a: Luma, b: Luma, left: number, top: number): number | undefined => {
  let [sumA, sumB, squaresA, squaresB, products] = [0, 0, 0, 0, 0]
  for (let y = top; y < top + window; y += 1) {
    for (let at = y * a.width + left; at < y * a.width + left + window; at += 1) {
      const [one, two] = [a.data[at]!, b.data[at]!]
      sumA += one
      sumB += two
      squaresA += one * one
      squaresB += two * two
      products += one * two
    }
  }
  const count = window * window
  const [meanA, meanB] = [sumA / count, sumB / count]
  const variances = squaresA / count - meanA ** 2 + squaresB / count - meanB ** 2
  if (variances === 0 && meanA === meanB) return undefined
  const covariance = products / count - meanA * meanB
  return ((2 * meanA * meanB + c1) * (2 * covariance + c2)) / ((meanA ** 2 + meanB ** 2 + c1) * (variances + c2))
}

/**
 * Structural similarity (SSIM) of two pictures: the mean over windows of 8 × 8 pixels of luma, without windows of one
 * identical value in both. 1 for equal pictures, 0 if the sizes differ.
 */
export const similarity = async (one: Uint8Array, two: Uint8Array): Promise<number> => {
  const [a, b] = await Promise.all([lumaOf(one), lumaOf(two)])
  if (a.width !== b.width || a.height !== b.height) return 0
  let [sum, count] = [0, 0]
  for (let top = 0; top + window <= a.height; top += window) {
    for (let left = 0; left + window <= a.width; left += window) {
      const likeness = similarityAt(a, b, left, top)
      if (likeness === undefined) continue
      sum += likeness
      count += 1
    }
  }
  return count === 0 ? 1 : sum / count
}
