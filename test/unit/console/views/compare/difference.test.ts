import t from 'tap'
import { markDifferences } from '#console/views/compare/difference.ts'

const rgba = (...pixels: readonly (readonly number[])[]) => Uint8ClampedArray.from(pixels.flat())

t.test('difference: equal pixels fade to grey, others are red, and these are counted', async (t) => {
  const black = [0, 0, 0, 255]
  const white = [255, 255, 255, 255]
  const result = new Uint8ClampedArray(16)
  const first = rgba(black, white, black, [0, 0, 0, 0])
  const second = rgba(black, white, [0, 0, 1, 255], black)
  t.equal(markDifferences(first, second, result), 2)
  t.same([...result], [191, 191, 191, 255, 255, 255, 255, 255, 214, 40, 57, 255, 214, 40, 57, 255])
})
