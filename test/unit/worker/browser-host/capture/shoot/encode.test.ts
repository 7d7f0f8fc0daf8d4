import * as fc from 'fast-check'
import sharp from 'sharp'
import t from 'tap'
import type { ImageOutput } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { assertFits, encode, fitInside } from '#worker/browser-host/capture/shoot/encode.ts'

const outputOf = (over: Partial<ImageOutput>): ImageOutput => ({
  kind: 'image',
  format: 'png',
  quality: 80,
  isTransparent: false,
  fit: undefined,
  ...over,
})

t.test('encode: rejects sizes above the maximum of a format, by a single pixel', async (t) => {
  const fits = (format: ImageOutput['format'], width: number, height: number, fit?: ImageOutput['fit']) => () =>
    assertFits({ format, fit }, { width, height })
  fits('webp', 100, 16_383)()
  fits('jpeg', 100, 65_535)()
  fits('avif', 16_384, 100)()
  fits('png', 100, 100_000)()
  t.throws(fits('webp', 100, 16_384), { code: 'RENDER_ERROR', publicMessage: /16383/ })
  t.throws(fits('jpeg', 65_536, 100), { code: 'RENDER_ERROR' })
  t.throws(fits('avif', 100, 16_385), { code: 'RENDER_ERROR' })
  fits('webp', 100, 20_000, { width: undefined, height: 1000 })()
  t.pass('what is made smaller is judged by its own size')
})

t.test('encode: an image fits inside the size, keeps its aspect ratio and is never enlarged', async (t) => {
  const size = { width: 1280, height: 800 }
  t.same(fitInside(size, { width: 640, height: undefined }), { width: 640, height: 400 })
  t.same(fitInside(size, { width: undefined, height: 400 }), { width: 640, height: 400 })
  t.same(fitInside(size, { width: 640, height: 100 }), { width: 160, height: 100 })
  t.same(fitInside(size, { width: 2000, height: 2000 }), size)
  t.same(fitInside({ width: 1, height: 20_000 }, { width: undefined, height: 16 }), { width: 1, height: 16 })
  const side = fc.integer({ min: 1, max: 20_000 })
  fc.assert(
    fc.property(side, side, side, side, (width, height, most, tall) => {
      const made = fitInside({ width, height }, { width: most, height: tall })
      return (
        made.width <= Math.max(1, most) &&
        made.height <= Math.max(1, tall) &&
        made.width <= width &&
        made.height <= height
      )
    }),
  )
})

t.test('encode: every format has its media type and size, without metadata', async (t) => {
  const shot = { width: 64, height: 32 }
  const background = { r: 200, g: 30, b: 30, alpha: 1 }
  const picture = await sharp({ create: { ...shot, channels: 4, background } })
    .png()
    .toBuffer()
  for (const format of ['png', 'jpeg', 'webp', 'avif', 'tiff'] as const) {
    const fit = { width: 32, height: undefined }
    const image = await encode(picture, outputOf({ format, fit }), shot)
    const { width, height, ...seen } = await sharp(image.bytes).metadata()
    t.same([image.width, image.height, width, height], [32, 16, 32, 16], format)
    t.equal(seen.format, format === 'avif' ? 'heif' : format)
    t.same([seen.exif, seen.icc, seen.xmp], [undefined, undefined, undefined], format)
    const { channels } = await sharp(image.bytes).stats()
    t.ok(Math.abs((channels[0]?.mean ?? 0) - 200) < 6 && (channels[1]?.mean ?? 99) < 40, `colour of ${format}`)
  }
})

t.test('encode: keeps transparency only if requested', async (t) => {
  const shot = { width: 8, height: 8 }
  const background = { r: 0, g: 0, b: 0, alpha: 0 }
  const picture = await sharp({ create: { ...shot, channels: 4, background } })
    .png()
    .toBuffer()
  for (const format of ['png', 'webp'] as const) {
    const clear = await encode(picture, outputOf({ format, isTransparent: true }), shot)
    t.equal((await sharp(clear.bytes).stats()).isOpaque, false, format)
    const opaque = await encode(picture, outputOf({ format }), shot)
    t.equal((await sharp(opaque.bytes).stats()).isOpaque, true, format)
  }
})

t.test(
  'encode: filters a png of a photograph, which makes it a third smaller; one of flat colour is not filtered',
  async (t) => {
    const size = { width: 400, height: 300 }
    const smooth = Buffer.alloc(size.width * size.height * 3)
    for (let at = 0; at < smooth.length; at += 1) {
      const [x, y] = [(at / 3) % size.width, at / 3 / size.width]
      smooth[at] = 128 + 60 * Math.sin(x / 30 + (at % 3)) + 60 * Math.cos(y / 20) + ((at * 7919) % 5)
    }
    const raw = { raw: { ...size, channels: 3 } } as const
    const fast = await sharp(smooth, raw).png({ compressionLevel: 1 }).toBuffer()
    const plain = await sharp(smooth, raw).png({ compressionLevel: 6 }).toBuffer()
    const { bytes } = await encode(fast, outputOf({}), size)
    t.ok(bytes.length < plain.length * 0.67, `${bytes.length} of ${plain.length}`)
    const flat = await sharp({ create: { ...size, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
    t.same(
      (await encode(flat, outputOf({}), size)).bytes,
      await sharp(flat).removeAlpha().png({ compressionLevel: 6 }).toBuffer(),
    )
  },
)

t.test('encode: uses less effort for a large picture', async (t) => {
  const isMadeBy = async (compression: 'deflate' | 'lzw', shot: { width: number; height: number }) => {
    const picture = await sharp({ create: { ...shot, channels: 3, background: 'red' } })
      .png({ compressionLevel: 1 })
      .toBuffer()
    const { bytes } = await encode(picture, outputOf({ format: 'tiff' }), shot)
    return bytes.equals(await sharp(picture).tiff({ compression, predictor: 'horizontal' }).toBuffer())
  }
  t.ok(await isMadeBy('deflate', { width: 500, height: 500 }))
  t.ok(await isMadeBy('lzw', { width: 5001, height: 5000 }))
})
