import sharp from 'sharp'
import t from 'tap'
import { withDefaults } from '#shared/capture/options.ts'
import { drawPlaceholder, placeholderSize } from '#gateway/images/placeholder.ts'

t.test('placeholder: is a small grey PNG of the given size', async (t) => {
  for (const [width, height] of [
    [1, 1],
    [637, 401],
    [3840, 2160],
  ] as const) {
    const png = await drawPlaceholder(width, height)
    const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true })
    t.match(info, { width, height })
    t.same([...data.subarray(-3)], [0xe5, 0xe7, 0xeb])
    t.ok(png.length < 2000)
  }
})

t.test('placeholder: has the size of the image of the viewport', (t) => {
  const url = 'https://example.com/'
  const sizes = [
    [{}, [1280, 800]],
    [{ width: 640, height: 400 }, [640, 400]],
    [{ retina: true }, [2560, 1600]],
    [{ resize_width: 320 }, [320, 200]],
    [{ resize_width: 320, resize_height: 100 }, [160, 100]],
    [{ clip: { x: 0, y: 0, width: 300, height: 20 } }, [300, 20]],
    [{ clip: { x: 0, y: 0, width: 20_000, height: 1 } }, [3840, 1]],
    [{ resize_width: 3840, width: 640, height: 400 }, [640, 400]],
  ] as const
  for (const [parameters, size] of sizes) {
    const { width, height } = placeholderSize(withDefaults({ url, ...parameters }))
    t.same([width, height], size, JSON.stringify(parameters))
  }
  t.end()
})
