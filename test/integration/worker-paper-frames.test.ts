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
  ['an object', `<object width="200" height="50" data="${other}/blue"></object>`],
  ['an embed', `<embed style="width:200px;height:50px" src="${other}/blue">`],
  ['a frameset', `<frameset cols="200,*"><frame src="${other}/blue"><frame src="${pages.url}/blue"></frameset>`],
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
    `<meta http-equiv="content-security-policy" content="frame-src ${other}"><frameset cols="200,*"><frame src="${other}/blue"></frameset>`,
  )
  t.match(warnings, [{ code: 'frames_not_printed', message: /^1 frames/ }])
})

t.test('worker paper: a frame that is higher than the window is printed in full', async (t) => {
  const { bytes } = await print(`<iframe width="300" height="1500" src="${other}/blue" style="display:block"></iframe>`)
  t.match(Buffer.from(bytes).toString('latin1'), /\/Subtype \/Image\s+\/Width 600\s+\/Height 3000\b/)
})

/** Reports what is blue, as frames of the other site are, in canvases of the page and of frames that it can read. */
const spy = `<script>
  const blue = (canvas) => {
    const context = canvas.getContext('2d')
    const data = context?.getImageData(0, 0, canvas.width, canvas.height).data ?? []
    for (let at = 0; at < data.length; at += 4) if (data[at] === 0 && data[at + 2] === 255 && data[at + 3] === 255) return true
  }
  setInterval(() => {
    const open = [document, ...[...document.querySelectorAll('iframe')].map((each) => each.contentDocument)].filter(Boolean)
    const roots = open.flatMap((each) => [each, ...[...each.querySelectorAll('*')].map(({ shadowRoot }) => shadowRoot)]).filter(Boolean)
    if (roots.flatMap((root) => [...root.querySelectorAll('canvas')]).some(blue)) new Image().src = '${pages.url}/read'
  }, 1)</script>`
const drawing = (style: string) =>
  `<canvas width="200" height="50" style="${style}"></canvas><script>document.querySelector('canvas').getContext('webgl')</script>`

for (const [what, body] of [
  ['a frame of another site', `<iframe width="200" height="50" src="${other}/blue"></iframe>`.repeat(5)],
  [
    'what lies over a drawing: a frame in a closed shadow root',
    `<style>body { margin: 0 }</style>${drawing('position:absolute')}<div id="closed"></div><script>document.getElementById('closed').attachShadow({ mode: 'closed' }).innerHTML =
      '<iframe width="200" height="50" style="position:absolute;border:0" src="${other}/blue"></iframe>'</script>`,
  ],
  [
    'what lies over a drawing: a frame that the page shows again',
    `<style>body { margin: 0 }</style>${drawing('position:absolute')}<iframe width="200" height="50" style="position:absolute;border:0" src="${other}/blue"></iframe><script>
      const frame = document.querySelector('iframe')
      new MutationObserver(() => { if (frame.style.visibility !== '') frame.style.visibility = '' }).observe(frame, { attributes: true })</script>`,
  ],
] as const) {
  t.test(`worker paper: a page cannot read ${what}`, async (t) => {
    const { bytes } = await print(body + spy)
    t.ok(imageWidths(bytes).length > 0)
    t.notOk(pages.hits.includes('/read'))
    pages.hits.length = 0
  })
}

t.test('worker paper: a document without an origin cannot read a frame that it empties itself', async (t) => {
  const html = `<iframe width="200" height="50" src="${other}/blue"></iframe>${spy}<script>
    const frame = document.querySelector('iframe')
    new MutationObserver(() => {
      if (!frame.sandbox.length) return
      frame.removeAttribute('sandbox')
      frame.src = 'about:blank'
    }).observe(frame, { attributes: true })</script>`
  await shoot({ html, format: 'pdf' })
  t.notOk(pages.hits.includes('/read'))
})

t.test('worker paper: a canvas of WebGL shows its picture', async (t) => {
  const blueDrawing = `<style>body { margin: 0 }</style><canvas width="200" height="100"></canvas><script>
    const gl = document.querySelector('canvas').getContext('webgl')
    gl.clearColor(0, 0, 1, 1)
    gl.clear(gl.COLOR_BUFFER_BIT)</script>`
  for (const parameters of [{}, { selector: 'canvas' }]) {
    const { bytes, warnings } = await print(blueDrawing, parameters)
    t.strictSame([imageWidths(bytes), warnings], [[400], []], JSON.stringify(parameters))
  }
})
