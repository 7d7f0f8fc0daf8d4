import t from 'tap'
import { hasOutline, readPageSizes, streamsOf } from '#test/helpers/pdf.ts'
import { startCaptureEnvironment } from '#test/helpers/shots.ts'

t.setTimeout(300_000)

const { pages, shoot, take } = await startCaptureEnvironment(t)

const html = `<!doctype html><title>printed</title><body style="margin:0;background:rgb(255,0,0)"><h1>one</h1>
  <h2 style="break-before:page">two</h2><h2 style="break-before:page">three</h2>`
const printed = async (parameters: object = {}) => (await shoot({ html, format: 'pdf', ...parameters })).bytes
const fillsRed = (pdf: Uint8Array) => streamsOf(pdf).some((stream) => /\b1 0 0 rg\b/.test(stream))

t.test('worker print: pages have the given size, and only those of the ranges are printed', async (t) => {
  t.equal(readPageSizes(await printed()).length, 3)
  const [first] = readPageSizes(await printed({ pdf_width: '4in', pdf_height: '3in' }))
  t.strictSame(first, [288, 216])
  t.strictSame(
    readPageSizes(await printed({ pdf_width: '4in', pdf_height: '3in', pdf_landscape: true }))[0],
    [216, 288],
  )
  t.equal(readPageSizes(await printed({ pdf_page_ranges: '1,3' })).length, 2)
  const none = await take({ html, format: 'pdf', pdf_page_ranges: '7-9' })
  t.match(none, { code: 'RENDER_ERROR', blame: 'caller', message: /pdf_page_ranges '7-9'/ })
})

t.test('worker print: content is scaled, and backgrounds may be left out', async (t) => {
  const tall = { html: '<div style="height:1900px">x</div>', format: 'pdf' } as const
  t.equal(readPageSizes((await shoot({ ...tall })).bytes).length, 2)
  t.equal(readPageSizes((await shoot({ ...tall, pdf_scale: 0.5 })).bytes).length, 1)
  const whole = { ...tall, full_page: true, pdf_scale: 0.5, pdf_margin_top: '0', pdf_margin_bottom: '0' }
  const { width, height, bytes } = await shoot({ ...whole, pdf_margin_left: '0', pdf_margin_right: '0' })
  t.same([width, height, readPageSizes(bytes).length], [640, 958, 1])
  t.same([fillsRed(await printed()), fillsRed(await printed({ pdf_background: false }))], [true, false])
})

t.test('worker print: all is printed on one page as wide as the paper, in print styles', async (t) => {
  const body = `<!doctype html><style>body { margin: 0 } @media screen { p { display: none } } p { height: 2000px; margin: 0; background: rgb(255,0,0) }</style>
    <p></p><h2 style="break-before:page">next</h2><footer style="width:100%;height:100px"></footer>`
  const single = { html: body, format: 'pdf', pdf_single_page: true } as const
  const pdf = await shoot(single)
  const [[width, height] = [0, 0], ...others] = readPageSizes(pdf.bytes)
  t.strictSame([others.length, pdf.warnings], [0, []])
  t.ok(Math.abs(width - 595) <= 1, `${width} points wide`)
  const contentPoints = (2100 * 72) / 96
  t.ok(height > contentPoints && height < contentPoints * 1.1, `${height} points`)
  t.ok(fillsRed(pdf.bytes))
  const narrow = await shoot({ ...single, pdf_width: '100mm', pdf_scale: 0.5, pdf_page_ranges: '1' })
  t.strictSame(
    readPageSizes(narrow.bytes)[0]?.map((side) => Math.round(side / 10)),
    [28, 87],
  )
  t.equal(readPageSizes((await shoot({ html: '<p>short</p>', format: 'pdf', pdf_single_page: true })).bytes).length, 1)
  const endless = await shoot({ html: '<p style="height:300000px">', format: 'pdf', pdf_single_page: true })
  t.match(endless, { height: 19_190, warnings: [{ code: 'truncated' }] })
  const hero = '<body style="margin:0"><div style="min-height:100vh"></div><p style="height:2000px;margin:0">'
  const pinned = await shoot({ html: hero, format: 'pdf', pdf_single_page: true })
  t.match(pinned.warnings, [])
  t.ok(pinned.height > 2800 && pinned.height < 2950, `${pinned.height} px`)
})

t.test('worker print: header and footer are on each page, and can neither run scripts nor load anything', async (t) => {
  const own = streamsOf(await printed())
  const plain = '<span style="font-size:10px">head</span>'
  const headed = streamsOf(await printed({ pdf_header: plain }))
  t.notSame(headed, own)
  const numbered = { pdf_footer: '<span style="font-size:10px" class="pageNumber"></span>' }
  t.notSame(streamsOf(await printed(numbered)), headed)
  pages.hits.length = 0
  const active = `<script>document.write('head')</script><img src="${pages.url}/plain"><link rel="stylesheet" href="${pages.url}/plain">`
  const styled = `<p style="font-size:10px;background:url(${pages.url}/plain)">foot</p><iframe src="${pages.url}/plain"></iframe>`
  t.notSame(streamsOf(await printed({ pdf_header: active, pdf_footer: styled })), own)
  t.strictSame(pages.hits, [])
})

t.test('worker print: a header has images of its own text, and a warning for what it may not contain', async (t) => {
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4r6QHAALjASDqmioxAAAAAElFTkSuQmCC'
  const logo = `<style>div { font-size: 12px }</style><div><img width="40" height="40" src="data:image/png;base64,${pixel}"> Invoice</div>`
  const print = (header: string) => shoot({ html: '<p>x', format: 'pdf', pdf_margin_top: '30mm', pdf_header: header })
  const imagesIn = (pdf: Uint8Array) =>
    Buffer.from(pdf)
      .toString('latin1')
      .match(/\/Subtype \/Image/g)?.length ?? 0
  const whole = await print(logo)
  t.strictSame([imagesIn(whole.bytes), whole.warnings], [1, []])
  pages.hits.length = 0
  const loading = `<style>p { background: url(${pages.url}/d) }</style><style>@import url(${pages.url}/a); @font-face { font-family: f; src: url(${pages.url}/b) } p { font: 9px f; background: url(${pages.url}/c) }</style><p>a</p><img src="${pages.url}/plain">`
  const reduced = await print(loading)
  t.match(reduced.warnings, [{ code: 'template_reduced', message: /^pdf_header: style, img / }])
  t.strictSame([imagesIn(reduced.bytes), pages.hits], [0, []])
})

t.test('worker print: an outline of the headings', async (t) => {
  t.same([hasOutline(await printed()), hasOutline(await printed({ pdf_outline: true }))], [false, true])
})
