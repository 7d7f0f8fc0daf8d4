import t from 'tap'
import { content } from '#test/fixtures/reference/page.ts'
import { startCaptureEnvironment } from '#test/helpers/shots.ts'

t.setTimeout(300_000)

const coloured = (colour: string) =>
  content('text/html', `<!doctype html><body style="margin:0;background:${colour};color:white">frame`)
const { pages, shoot } = await startCaptureEnvironment(t, {
  '/blue': coloured('rgb(0,0,255)'),
  '/page': (request, response) => {
    const body = new URL(request.url ?? '', 'http://page').searchParams.get('body')
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html>${body}`)
  },
  '/nest': (request, response) => {
    const other = request.headers.host?.replace('127.0.0.1', 'localhost')
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><iframe width="200" height="50" src="http://${other}/blue"></iframe>`)
  },
})
const other = pages.url.replace('127.0.0.1', 'localhost')

/** Widths of the images of a PDF in pixels, in order; Chromium writes their dictionaries in plain text. */
const imageWidths = (pdf: Uint8Array): number[] =>
  [
    ...Buffer.from(pdf)
      .toString('latin1')
      .matchAll(/\/Subtype \/Image\s+\/Width (\d+)/g),
  ]
    .map(([, width]) => Number(width))
    .toSorted((one, another) => one - another)
const print = (body: string, parameters: object = {}) =>
  shoot({ url: `${pages.url}/page?body=${encodeURIComponent(body)}`, format: 'pdf', ...parameters })

for (const [what, frame] of [
  ['another site', `<iframe width="200" height="50" src="${other}/blue"></iframe>`],
  [
    'another site, far below',
    `<div style="height:3000px"></div><iframe loading="lazy" width="200" height="50" src="${other}/blue"></iframe>`,
  ],
  ['a sandbox', '<iframe sandbox width="200" height="50" srcdoc="<body style=\'background:blue\'>"></iframe>'],
  [
    'a page whose policy allows no images',
    `<meta http-equiv="content-security-policy" content="img-src 'none'"><iframe width="200" height="50" src="${other}/blue"></iframe>`,
  ],
] as const) {
  t.test(`worker paper: a frame shows its picture, at twice its scale: ${what}`, async (t) => {
    const { bytes, warnings } = await print(frame)
    t.strictSame([imageWidths(bytes), warnings], [[400], []])
  })
}

t.test('worker paper: a frame shows its picture on a page of its own size too', async (t) => {
  const frame = `<iframe width="200" height="50" src="${other}/blue"></iframe>`
  for (const parameters of [{ full_page: true }, { pdf_single_page: true }, { selector: 'iframe' }]) {
    const { bytes, warnings } = await print(frame, parameters)
    t.strictSame([imageWidths(bytes), warnings], [[400], []], JSON.stringify(parameters))
  }
})

t.test(
  'worker paper: a frame inside another is on the picture of the other, unless that is of the same site',
  async (t) => {
    const nested = `<iframe width="300" height="90" src="${pages.url}/nest"></iframe><iframe width="300" height="90" src="${other}/nest"></iframe>`
    const { bytes, warnings } = await print(nested)
    t.strictSame([imageWidths(bytes), warnings], [[400, 600], []])
  },
)

t.test('worker paper: hidden frames stay hidden, and frames that cannot be drawn have a warning', async (t) => {
  const hidden = await print(
    `<div style="display:none"><iframe src="${other}/blue"></iframe></div><iframe width="1" height="1" src="${other}/blue"></iframe>`,
  )
  t.strictSame([imageWidths(hidden.bytes), hidden.warnings], [[], []])
  const { warnings } = await print(
    `<embed width="200" height="50" src="${other}/blue"><object width="200" height="50" data="${other}/blue"></object>`,
  )
  t.match(warnings, [{ code: 'frames_not_printed', message: /^2 frames/ }])
})

t.test('worker paper: a frame that is higher than the window is printed in full', async (t) => {
  const { bytes } = await print(`<iframe width="300" height="1500" src="${other}/blue" style="display:block"></iframe>`)
  t.match(Buffer.from(bytes).toString('latin1'), /\/Subtype \/Image\s+\/Width 600\s+\/Height 3000\b/)
})

t.test('worker paper: a page cannot read the picture of a frame of another site', async (t) => {
  const spy = `<script>
    setInterval(() => {
      for (const { contentDocument } of document.querySelectorAll('iframe')) {
        const canvas = contentDocument?.querySelector('canvas')
        const data = canvas?.getContext('2d')?.getImageData(50, 25, 1, 1).data
        if (data) new Image().src = '/read?' + data
      }
    }, 1)
    const blue = (data) => data && data[2] === 255 && data[0] === 0
    setInterval(() => {
      for (const canvas of document.querySelectorAll('canvas'))
        if (blue(canvas.getContext('2d')?.getImageData(300, 60, 1, 1).data)) new Image().src = '/read?canvas'
    }, 1)</script>`
  const frames = `<iframe width="200" height="50" src="${other}/blue"></iframe>`.repeat(5)
  const below = `<canvas width="200" height="50" style="position:absolute"></canvas><script>document.querySelector('canvas').getContext('webgl')</script>`
  const { bytes } = await print(below + spy + frames)
  t.equal(imageWidths(bytes).length, 6)
  t.notOk(pages.hits.includes('/read'))
})

t.test('worker paper: a canvas of WebGL shows its picture', async (t) => {
  const drawing = `<style>body { margin: 0 }</style><canvas width="200" height="100"></canvas><script>
    const gl = document.querySelector('canvas').getContext('webgl')
    gl.clearColor(0, 0, 1, 1)
    gl.clear(gl.COLOR_BUFFER_BIT)</script>`
  for (const parameters of [{}, { selector: 'canvas' }]) {
    const { bytes, warnings } = await print(drawing, parameters)
    t.strictSame([imageWidths(bytes), warnings], [[400], []], JSON.stringify(parameters))
  }
})
