import sharp from 'sharp'
import t from 'tap'
import { captureWith, startTestHost } from '#test/helpers/browser-host.ts'
import { readPageSizes } from '#test/helpers/pdf.ts'
import { blue, pixel, red, redPage, startCaptureEnvironment } from '#test/helpers/shots.ts'

const { pages, egress, take, shoot } = await startCaptureEnvironment(t)

t.test('worker outputs: an element is captured alone, wherever it is, in whole pixels', async (t) => {
  const box = 'width:100.5px;height:50.2px;background:rgb(0,0,255)'
  const html = redPage(
    `<div style="height:3000px"></div><div id="a" style="margin-left:10.4px;${box}"></div><div style="height:900px">`,
  )
  const below = await shoot({ html, selector: '#a' })
  t.match(below, { width: 101, height: 51 })
  t.match(await sharp(below.bytes).metadata(), { width: below.width, height: below.height })
  t.strictSame(await pixel(below, 50, 25), blue)
  const tall = redPage('<div id="a" style="width:200px;height:2500px;background:linear-gradient(rgb(0,0,255),lime)">')
  t.match(await sharp((await shoot({ html: tall, selector: '#a' })).bytes).metadata(), { width: 200, height: 2500 })
  const scroller = redPage(
    `<div style="height:200px;overflow:auto"><div style="height:900px"></div><div id="a" style="${box}"></div></div>`,
  )
  t.strictSame(await pixel(await shoot({ html: scroller, selector: '#a' }), 50, 25), blue, 'in a scroller')
  const longer = redPage(
    `<div style="height:100vh;overflow:auto"><div id="a" style="${box};height:3000px"></div></div>`,
  )
  const whole = await shoot({ html: longer, selector: '#a' })
  t.strictSame(await pixel(whole, 50, 2950), blue, 'longer than its scroller')
  t.match(await shoot({ html: longer, selector: 'body > div' }), { height: 3000 }, 'a scroller in full')
  t.match(await shoot({ html, selector: '#a', full_page: true }), { width: 101, height: 51 })
})

t.test('worker outputs: lazy images of an element are loaded; those above the viewport are not awaited', async (t) => {
  const url = `${pages.url}/stripes`
  const whole = await shoot({ url, selector: 'body' })
  t.match(whole, { height: 4000, warnings: [] })
  for (const stripe of [0, 10, 19]) t.strictSame(await pixel(whole, 50, stripe * 200 + 50), red, `picture ${stripe}`)
  const last = await shoot({ url, scroll_to: 'div:last-child img' })
  t.same(last.warnings, [])
  t.strictSame(await pixel(last, 50, 650), red)
})

t.test('worker outputs: scroll_to scrolls to an element before the viewport is captured', async (t) => {
  const html = redPage(
    '<div style="height:5000px"></div><div id="a" style="height:300px;background:rgb(0,0,255)"></div><div style="height:5000px">',
  )
  t.strictSame(await pixel(await shoot({ html, scroll_to: '#a' }), 640, 400), blue)
  t.strictSame(await pixel(await shoot({ html }), 640, 400), red)
})

// Contract: `resize_width` + `resize_height`
t.test('worker outputs: omit_background makes it transparent, and resizing keeps the aspect ratio', async (t) => {
  const html = '<!doctype html><body style="margin:0"><div style="width:100px;height:100px;background:rgb(0,0,255)">'
  for (const format of ['png', 'webp'] as const) {
    const { bytes } = await shoot({ html, format, omit_background: true })
    const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    const alphaAt = (x: number, y: number) => data[(y * info.width + x) * info.channels + 3]
    t.same([alphaAt(50, 50), alphaAt(600, 600)], [255, 0], format)
  }
  t.match(await shoot({ html, resize_width: 320 }), { width: 320, height: 200 })
  const thumb = await shoot({ html, resize_height: 100, resize_width: 100, format: 'jpeg', retina: true })
  t.match(await sharp(thumb.bytes).metadata(), { width: 100, height: 63, format: 'jpeg' })
})

for (const [format, decoded] of [
  ['avif', 'heif'],
  ['tiff', 'tiff'],
] as const) {
  t.test(`worker outputs: a viewport is captured as ${format}`, async (t) => {
    const shot = await shoot({ html: '<body style="background:rgb(0,0,255)">x', format })
    t.match(shot, { mimeType: `image/${format}`, width: 1280, height: 800 })
    t.match(await sharp(shot.bytes).metadata(), { format: decoded, width: 1280, height: 800 })
    const [r = 9, g = 9, b = 0] = await pixel(shot, 640, 400)
    t.ok(r < 8 && g < 8 && b > 247)
  })
}

const pdfOf = (bytes: Uint8Array) => {
  const sizes = readPageSizes(bytes)
  return { isPdf: Buffer.from(bytes).toString('latin1').startsWith('%PDF-'), pages: sizes.length, size: sizes[0] ?? [] }
}

// Contract: `width`, `height` of a PDF
t.test('worker outputs: a PDF has the requested page format and margins; its size is in CSS pixels', async (t) => {
  const html = redPage('<h1>PDF</h1><div style="height:3000px"></div>')
  const a4 = await shoot({ html, format: 'pdf' })
  t.match(a4, { mimeType: 'application/pdf', width: 794, height: 1123 })
  t.match(pdfOf(a4.bytes), { isPdf: true, pages: 3 })
  const sizes = {
    A3: [842, 1191],
    A4: [595, 842],
    A5: [420, 595],
    Letter: [612, 792],
    Legal: [612, 1008],
    Tabloid: [792, 1224],
  } as const
  for (const [name, [width, height]] of Object.entries(sizes)) {
    const pdf_page_format = name as keyof typeof sizes
    const turned = pdfOf((await shoot({ html, format: 'pdf', pdf_page_format, pdf_landscape: true })).bytes)
    t.ok(Math.abs((turned.size[0] ?? 0) - height) < 1.5 && Math.abs((turned.size[1] ?? 0) - width) < 1.5, name)
  }
  const wide = { pdf_margin_top: '14cm', pdf_margin_bottom: '14cm' }
  t.ok(pdfOf((await shoot({ html, format: 'pdf', ...wide })).bytes).pages > 20, 'margins reduce the content of a page')
  const none = { pdf_margin_left: '105mm', pdf_margin_right: '105mm' }
  t.match(await take({ html, format: 'pdf', ...none }), { code: 'RENDER_ERROR', message: /margins/ })
})

// Contract: `full_page` + PDF
t.test('worker outputs: a PDF of a full page or an element is one page of its size plus margins', async (t) => {
  const html = redPage(
    '<div id="a" style="width:300px;height:2000px;background:lime"></div><div style="height:1000px">',
  )
  const inch = { pdf_margin_top: '1in', pdf_margin_bottom: '0', pdf_margin_left: '0', pdf_margin_right: '0' }
  const whole = await shoot({ html, format: 'pdf', full_page: true, ...inch })
  t.match(whole, { width: 1280, height: 3096 })
  t.match(pdfOf(whole.bytes), { pages: 1, size: [960, 2322] })
  const element = await shoot({ html, format: 'pdf', selector: '#a', ...inch })
  t.match(element, { width: 300, height: 2096 })
  t.match(pdfOf(element.bytes), { pages: 1 })
})

// Contract: Markdown
t.test('worker outputs: Markdown has tables, tasks, highlighted code, dark mode and sanitised HTML', async (t) => {
  const markdown = [
    '# Title',
    '',
    '| a | b |',
    '| - | :-: |',
    '| 1 | 2 |',
    '',
    '- [x] done',
    '- [ ] open',
    '',
    '~~gone~~ https://example.com/',
    '',
    '```js',
    'const a = 1',
    '```',
    '',
    '<details><summary>more</summary>in</details>',
    '<script>document.body.innerHTML = ""</script><img src=x onerror="document.body.innerHTML = 1"><iframe src="//a"></iframe>',
  ].join('\n')
  const found = (selector: string, count: number) => `document.querySelectorAll('${selector}').length === ${count}`
  const wants = [
    found('h1', 1),
    found('td', 2),
    found('li.task input', 2),
    found('input[checked]', 1),
    found('s', 1),
    found('a[href="https://example.com/"]', 1),
    found('.hljs-keyword', 1),
    found('details', 1),
    found('script, iframe, [onerror]', 0),
    "getComputedStyle(document.querySelectorAll('td')[1]).textAlign === 'center'",
  ]
  for (const want of wants) {
    const shot = await shoot({ markdown, js: `if (${want}) document.body.style.background = 'rgb(0,0,255)'` })
    t.strictSame(await pixel(shot, 5, 400), blue, want)
  }
  t.strictSame(await pixel(await shoot({ markdown }), 5, 5), [255, 255, 255])
  t.strictSame(await pixel(await shoot({ markdown, dark_mode: true }), 5, 5), [13, 17, 23])
  await using byFlags = await startTestHost(egress, {}, { network: 'flags-only' })
  t.match(await captureWith(byFlags, { markdown }), { outcome: 'completed' }, 'without an isolated file tree')
})

t.test(
  'worker outputs: diagrams in Markdown are drawn in both schemes, the same each time; one with a mistake stays text',
  async (t) => {
    const diagram = '```mermaid\ngraph LR\n  A[<b>One</b>] --> B\n  click A href "javascript:a()"\n```\n\n'
    const markdown = `${diagram}\`\`\`mermaid\nno diagram\n\`\`\`\n\n$x^2$`
    const drawn = "document.querySelectorAll('pre.mermaid svg').length === 1"
    const isText = "document.querySelectorAll('pre.mermaid')[1].textContent === 'no diagram\\n'"
    const isSafe = "document.querySelector('svg script') === null && !document.body.innerHTML.includes('javascript:')"
    const hasFont = "document.fonts.check('16px KaTeX_Main')"
    const js = `if (${[drawn, isText, isSafe, hasFont].join(' && ')}) document.title = 'as it should be'`
    const shot = await shoot({ markdown, js, extract_metadata: true })
    t.match(shot, { metadata: { title: 'as it should be' }, warnings: [] })
    const dark = { markdown, dark_mode: true }
    const [first, second] = [await shoot(dark), await shoot(dark)]
    t.equal(first.sha256, second.sha256)
    t.match(await pixel(first, 5, 5), [13, 17, 23])
  },
)

t.test('worker outputs: the front matter of Markdown is its metadata', async (t) => {
  const markdown = '---\ntitle: Guide\nlang: de\ndescription: What it says\n---\n# Text'
  const { metadata } = await shoot({ markdown, extract_metadata: true })
  t.strictSame(metadata, { title: 'Guide', description: 'What it says', language: 'de' })
})

t.test('worker outputs: an avif is truncated where its encoder would need too much time and memory', async (t) => {
  const html = redPage('<div style="height:9000px"><p>tall</p></div>')
  const tall = await shoot({ html, width: 3840, full_page: true, format: 'avif' })
  t.match(tall, { width: 3840, height: 8854, warnings: [{ code: 'truncated' }] })
})
