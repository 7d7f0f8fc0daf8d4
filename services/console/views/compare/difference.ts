/** The red of pixels that differ, on a faded picture. */
const marked = [214, 40, 57] as const
/** Share of the contrast that equal pixels keep. */
const faded = 0.25

const wordsOf = ({ buffer, byteOffset, length }: Uint8ClampedArray) => new Uint32Array(buffer, byteOffset, length / 4)

const fade = (pixels: Uint8ClampedArray, at: number): number => {
  const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3)
  return 255 - (255 - (0.3 * red + 0.59 * green + 0.11 * blue)) * faded
}

/**
 * Writes the difference of two pictures, as RGBA bytes of equal length, into `result`: pixels that differ red, others faded to
 * grey. Returns how many differ.
 */
export const markDifferences = (
  first: Uint8ClampedArray,
  second: Uint8ClampedArray,
  result: Uint8ClampedArray,
): number => {
  const [before, after] = [wordsOf(first), wordsOf(second)]
  let count = 0
  for (let index = 0; index < before.length; index += 1) {
    const at = index * 4
    const isEqual = before[index] === after[index]
    if (isEqual) result.fill(fade(first, at), at, at + 3)
    else result.set(marked, at)
    result[at + 3] = 255
    if (!isEqual) count += 1
  }
  return count
}
