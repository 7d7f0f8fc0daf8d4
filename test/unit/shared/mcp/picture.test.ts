import t from 'tap'
import { Shutterfleet, type Screenshot } from '#client/shutterfleet.js'
import { pictureBlocks, withSmallPicture } from '#shared/mcp/picture.ts'

const url = 'https://example.com/'

t.test('mcp pictures: a capture whose picture may be too large has a smaller one of the same load', (t) => {
  const rendition = { format: 'jpeg', resize_width: 2000, resize_height: 2000 }
  const cases = [
    [{ url }, undefined],
    [{ url, full_page: true }, rendition],
    [{ url, selector: 'main' }, rendition],
    [{ url, retina: true }, rendition],
    [{ url, width: 2001, height: 200 }, rendition],
    [{ url, format: 'avif' }, rendition],
    [{ url, format: 'pdf' }, undefined],
    [{ url, width: 3840, height: 2160, scale: 3 }, undefined],
    [{ url, device: 'fridge' }, undefined],
    [{ url, full_page: true, renditions: [] }, []],
    [{ url, full_page: true, resize_width: 3000, resize_height: 1500, resize_mode: 'cover' }, { resize_height: 1000 }],
    [
      { url, full_page: true, resize_width: 500 },
      { resize_width: 500, resize_height: 2000 },
    ],
  ] as const
  for (const [input, expected] of cases) {
    const { renditions } = withSmallPicture(input, 2000)
    t.match(
      renditions,
      expected === undefined || Array.isArray(expected) ? expected : [expected],
      JSON.stringify(input),
    )
    if (expected === undefined) t.equal(renditions, undefined, JSON.stringify(input))
  }
  t.end()
})

const image = {
  file_size: 1000,
  width: 1000,
  height: 500,
  mime_type: 'image/png',
  image_url: 'https://shots.example/image',
}
const small = { file_size: 900, width: 1000, height: 500, mime_type: 'image/jpeg', url: 'https://shots.example/small' }

t.test('mcp pictures: the result contains the largest picture within its bounds', async (t) => {
  const requested: unknown[] = []
  const client = new Shutterfleet({
    baseUrl: 'https://shots.example',
    apiKey: 'key',
    fetch: (address) => {
      requested.push((address as string).split('/').at(-1))
      return Promise.resolve(new Response('bytes', { headers: { 'content-type': 'image/png' } }))
    },
  })
  const call = { client, signal: new AbortController().signal, reserve: () => true, progress: () => {} }
  const show = (record: object, side = 2000) => pictureBlocks(call, { id: 'one', ...record } as Screenshot, side)
  t.match(await show(image), [{ type: 'image' }])
  for (const excess of [{ width: 2001 }, { height: 2001 }, { file_size: 3_750_001 }, { mime_type: 'image/tiff' }]) {
    const blocks = await show({ ...image, ...excess, renditions: [{ ...small, width: 2001 }, small] })
    t.match(blocks, [{ type: 'image' }, { text: /the full one is at https:\/\/shots.example\/image$/ }])
  }
  t.match(await show({ ...image, width: 2001 }, 8000), [{ type: 'image' }])
  t.match(await show({ ...image, width: 2001, renditions: [] }), [{ type: 'text', text: /download \S+\/image$/ }])
  t.same(requested, ['image', ...Array<string>(4).fill('rendition-2'), 'image'])
})
