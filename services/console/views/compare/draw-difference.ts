import { markDifferences } from './difference.ts'

/** Rows that are compared at once: a band of each picture is kept as bytes. */
const bandRows = 512

/** Pictures of more pixels are not compared: both and their difference are kept in memory. */
export const comparedPixels = 60_000_000

type Picture = { readonly width: number; readonly height: number }

/** Draws the difference of two pictures, which begin at the same corner. Returns the share of pixels that differ, from 0 to 1. */
export const drawDifference = (
  canvas: HTMLCanvasElement,
  [first, second]: readonly [ImageBitmap, ImageBitmap],
): number => {
  const sizes: readonly Picture[] = [first, second]
  const width = Math.max(...sizes.map((each) => each.width))
  const height = Math.max(...sizes.map((each) => each.height))
  Object.assign(canvas, { width, height })
  const context = canvas.getContext('2d')
  const scratch = new OffscreenCanvas(width, Math.min(bandRows, height)).getContext('2d', { willReadFrequently: true })
  if (!context || !scratch) throw new Error('this browser has no canvas')
  let count = 0
  for (let top = 0; top < height; top += bandRows) {
    const rows = Math.min(bandRows, height - top)
    const read = (picture: ImageBitmap) => {
      scratch.clearRect(0, 0, width, rows)
      scratch.drawImage(picture, 0, -top)
      return scratch.getImageData(0, 0, width, rows).data
    }
    const band = new ImageData(width, rows)
    count += markDifferences(read(first), read(second), band.data)
    context.putImageData(band, 0, top)
  }
  return count / (width * height)
}
