import sharp from 'sharp'
import t from 'tap'
import { content } from '#test/fixtures/reference/page.ts'
import { blue, pixel, redPage, startCaptureEnvironment } from '#test/helpers/shots.ts'

const inner =
  '<!doctype html><body style="margin:0"><div style="height:2900px;background:lime"></div><div style="height:100px;background:rgb(0,0,255)"></div>'

const { shoot, pages } = await startCaptureEnvironment(t, { '/inner': content('text/html', inner) })

const lime = [0, 255, 0]
const noMargins = { pdf_margin_top: '0', pdf_margin_right: '0', pdf_margin_bottom: '0', pdf_margin_left: '0' }
const below = (height: number) => `<div style="height:${height}px;background:lime"></div>`
const whole = (body: string, parameters: object = {}) => shoot({ html: redPage(body), full_page: true, ...parameters })

for (const [what, hero] of [
  ['height', '<div style="height:100vh;background:rgb(0,0,255)"></div>'],
  ['least height', '<div style="min-height:100vh;background:rgb(0,0,255)"></div>'],
  ['part of it less a bar', '<div style="height:calc(50vh + 400px);background:rgb(0,0,255)"></div>'],
  ['rows of a grid', '<div style="display:grid;grid-template-rows:100vh;background:rgb(0,0,255)"><p></p></div>'],
  ['padding', '<div style="padding:50vh 0;background:rgb(0,0,255)"></div>'],
  [
    'height of a chain',
    '<style>html, body { height: 100% }</style><div style="height:100%;background:rgb(0,0,255)"></div>',
  ],
  [
    'text size',
    '<div style="font-size:50vh;line-height:1;width:100px;overflow:hidden;background:rgb(0,0,255)">.<br>.</div>',
  ],
] as const) {
  t.test(`worker full page: a ${what} that follows the viewport stays as it was`, async (t) => {
    for (const format of ['png', 'pdf'] as const) {
      const { height } = await whole(hero + below(1200), { format, ...(format === 'pdf' && noMargins) })
      t.equal(height, 2000, format)
    }
    const shot = await whole(hero + below(1200))
    t.strictSame(await pixel(shot, 50, 790), blue)
    t.strictSame(await pixel(shot, 50, 810), lime)
  })
}

t.test('worker full page: a page on a phone, with a mobile layout or without', async (t) => {
  const hero = '<div style="height:100vh;background:rgb(0,0,255)"></div>'
  const phone = { device: 'mobile' } as const
  const laidOut = await whole(`<meta name="viewport" content="width=device-width">${hero}${below(3000)}`, phone)
  t.match(laidOut, { width: 375, height: 3812 })
  t.strictSame(await pixel(laidOut, 50, 800), blue)
  const overwide = `<meta name="viewport" content="width=device-width">${below(2000)}<div style="width:800px;height:500px;background:fixed linear-gradient(rgb(0,0,255) 0 100%)"></div>`
  const zoomedOut = await whole(overwide, { ...phone, full_page_width: 'content' })
  t.match(zoomedOut, { width: 800, height: 2500 })
  const cut = await whole(overwide, phone)
  t.match(cut, { width: 375, height: 2500 }, 'by default as wide as the phone')
  t.strictSame(await pixel(cut, 370, 2400), blue)
  t.strictSame(await pixel(zoomedOut, 50, 2400), blue, 'a fixed background where content is wider than the phone')
  const plain = await whole(below(3000), phone)
  t.match(plain, { width: 980, height: 3000 })
  t.strictSame(await pixel(plain, 50, 2990), lime)
})

t.test('worker full page: a fixed background that covers an element is as large as that', async (t) => {
  const image = `data:image/svg+xml,${encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="5" fill="red"/><rect y="5" width="10" height="5" fill="blue"/></svg>',
  )}`
  const hero = `<div style="height:600px;background:url('${image}') fixed;background-size:100% 100%"></div>`
  const shot = await whole(hero + below(5000))
  t.same([await pixel(shot, 50, 10), await pixel(shot, 50, 590)], [[255, 0, 0], blue])
})

t.test('worker full page: a page whose styles ask for the shape of the viewport keeps it', async (t) => {
  const style = '<style>@media (orientation: portrait) { div { background: black !important } }</style>'
  t.strictSame(await pixel(await whole(style + below(3000)), 50, 2900), lime)
})

t.test(
  'worker full page: a dialog that covers the viewport stays at the top, a fixed background fills the page',
  async (t) => {
    const dialog = `<div style="position:fixed;inset:0;display:grid;place-items:center;background:rgb(0,0,0,.5)">
    <div style="width:100px;height:100px;background:rgb(0,0,255)"></div></div>`
    const covered = await whole(dialog + below(3000))
    t.strictSame(await pixel(covered, 640, 400), blue)
    t.strictSame(await pixel(covered, 640, 1500), lime)
    const behind = '<div style="position:fixed;inset:0;z-index:-1;background:rgb(0,0,255)"></div>'
    const background = await shoot({
      html: `<!doctype html><body style="margin:0">${behind}<div style="height:3000px">`,
      full_page: true,
    })
    for (const y of [400, 2900]) t.strictSame(await pixel(background, 640, y), blue)
  },
)

t.test('worker full page: elements that follow the scroll position are shown as if in view', async (t) => {
  const appear = `<style>@keyframes appear { from { opacity: 0 } } div { animation: appear both; animation-timeline: view(); animation-range: entry }</style>`
  t.strictSame(await pixel(await whole(appear + below(800) + below(2000)), 50, 2700), lime)
  const progress = `<style>@keyframes fill { from { scale: 0 1 } } header { position: fixed; top: 0; width: 100%; height: 50px; background: rgb(0,0,255); animation: fill both linear; animation-timeline: scroll() }</style><header></header>`
  t.strictSame(await pixel(await whole(progress + below(3000)), 640, 25), lime)
})

t.test(
  'worker full page: parts that are drawn only near the viewport, and lists that hold only what is in view',
  async (t) => {
    const auto = '<style>section { content-visibility: auto; contain-intrinsic-height: 500px }</style>'
    const sections = `<section>${below(500)}</section>`.repeat(8)
    t.strictSame(await pixel(await whole(auto + sections), 50, 3900), lime)
    const list = `<main style="height:5000px;position:relative"></main><script>
    const main = document.querySelector('main')
    const draw = () => {
      const first = Math.max(0, Math.floor(scrollY / 100) - 2)
      const rows = Array.from({ length: Math.ceil(innerHeight / 100) + 4 }, (_, at) => first + at).filter((at) => at < 50)
      main.innerHTML = rows.map((at) => '<div style="position:absolute;width:100%;height:100px;background:lime;top:' + at * 100 + 'px"></div>').join('')
    }
    for (const type of ['scroll', 'resize']) addEventListener(type, draw)
    draw()</script>`
    const listed = await whole(list)
    for (const y of [50, 2500, 4950]) t.strictSame(await pixel(listed, 50, y), lime, `at ${y}`)
  },
)

t.test(
  'worker full page: the picture of an element has nothing over it that is fixed or sticky elsewhere',
  async (t) => {
    const bars = `<header style="position:sticky;top:0;height:80px;background:black;z-index:9"></header>
    <nav style="position:fixed;top:0;bottom:0;width:100px;background:black;z-index:9"></nav>
    <dialog style="inset:0;border:0;width:300px;height:100%;background:black"></dialog><script>document.querySelector('dialog').showModal()</script>`
    const element = `<div style="height:900px"></div><article style="height:600px;background:rgb(0,0,255)">
    <p style="position:sticky;top:0;margin:0;height:50px;background:lime"></p></article><div style="height:1000px"></div>`
    const shot = await shoot({ html: redPage(bars + element), selector: 'article' })
    t.match(shot, { width: 1280, height: 600 })
    t.strictSame(await pixel(shot, 50, 25), lime)
    for (const [x, y] of [
      [50, 60],
      [50, 590],
      [640, 300],
    ] as const)
      t.strictSame(await pixel(shot, x, y), blue, `at ${x}, ${y}`)
  },
)

t.test('worker full page: in sections, each part is shot while it is in view, and bars are shown once', async (t) => {
  const bars = `<header style="position:fixed;top:0;width:100%;height:50px;background:rgb(0,0,255)"></header>
    <nav style="position:sticky;top:0;height:50px;background:rgb(0,0,255)"></nav>
    <footer style="position:fixed;bottom:0;width:100%;height:50px;background:rgb(0,0,255)"></footer>`
  const page = `<script>addEventListener('scroll', () => { for (const part of document.querySelectorAll('main div')) {
    const { top, bottom } = part.getBoundingClientRect()
    part.style.background = top < innerHeight && bottom > 0 ? 'lime' : 'black'
  } })</script>`
  const body = `${bars}<main>${below(100).repeat(31)}</main>${page}`
  for (const parameters of [{}, { format: 'jpeg', quality: 100 }, { retina: true }] as const) {
    const shot = await whole(body, { full_page_mode: 'sections', ...parameters })
    const scale = 'retina' in parameters ? 2 : 1
    t.match(shot, { width: 1280 * scale, height: 3150 * scale })
    const colours = await Promise.all(
      [20, 75, 780, 820, 1580, 1620, 2390, 2500, 3050, 3130].map((y) => pixel(shot, 640 * scale, y * scale)),
    )
    const names = colours.map(([, g = 0, b = 0]) => (g > 250 ? 'lime' : b > 250 ? 'blue' : 'other'))
    t.strictSame(
      names,
      ['blue', 'lime', 'lime', 'lime', 'lime', 'lime', 'lime', 'lime', 'lime', 'blue'],
      JSON.stringify(parameters),
    )
  }
})

// Contract: Width of a full page
t.test('worker full page: its width may be that of the viewport, and its height bounded', async (t) => {
  const wide = `<div style="width:2000px;height:1000px;background:lime"></div>`
  t.match(await whole(wide), { width: 2000, height: 1000, warnings: [] })
  t.match(await whole(wide, { full_page_width: 'viewport' }), { width: 1280, height: 1000, warnings: [] })
  t.match(
    await whole(wide, { width: 599 }),
    { width: 599, height: 1000, warnings: [] },
    'the default of narrow viewports',
  )
  const cut = await whole(below(3000), { full_page_max_height: 1500 })
  t.match(cut, { height: 1500, warnings: [{ code: 'truncated' }] })
})

t.test('worker full page: a PDF that cannot fit on one page is cut, and says so', async (t) => {
  const grows = `<style>@media print { p { height: 200vh; margin: 0 } }</style><p></p><script>
    matchMedia('print').addEventListener('change', () => {
      for (const part of document.querySelectorAll('p')) part.style.height = '200vh'
    })
    addEventListener('beforeprint', () => { document.querySelector('p').style.height = '200vh' })</script>`
  const { warnings } = await whole(grows + below(1000), { format: 'pdf', ...noMargins })
  t.match(warnings, [{ code: 'truncated' }])
})

t.test('worker full page: text has the fonts that it has in a viewport', async (t) => {
  const text = `<p style="margin:0;height:400px;font:80px monospace">mono</p>`
  const topOf = ({ bytes }: { readonly bytes: Uint8Array }) =>
    sharp(bytes).extract({ left: 0, top: 0, width: 1280, height: 400 }).raw().toBuffer()
  const viewport = await topOf(await shoot({ html: redPage(text + below(1200)) }))
  t.ok(viewport.equals(await topOf(await whole(text + below(1200)))))
  t.notOk(viewport.equals(await topOf(await whole(text.replace('monospace', 'Courier New') + below(1200)))))
})

const window = (body: string) =>
  `<style>html, body { height: 100%; overflow: hidden } body { margin: 0; display: flex }</style>${body}`
const long = (height: number) =>
  `<div style="height:${height - 100}px"></div><div style="height:100px;background:rgb(0,0,255)"></div>`

t.test('worker full page: the largest scroller from a third of the window is shown whole, no other is', async (t) => {
  const shot = await whole(
    window(
      `<div style="width:400px;overflow:auto">${long(5000)}</div><div style="width:500px;overflow:auto">${long(2000)}</div>`,
    ),
  )
  t.equal(shot.height, 2000)
  t.strictSame(await pixel(shot, 600, 1950), blue)
  t.match(await whole(window(`<div style="width:400px;overflow:auto">${long(5000)}</div>`)), { height: 800 })
})

t.test('worker full page: a board that scrolls sideways is as wide as its content, a slider is not', async (t) => {
  const lists = '<div style="flex:0 0 400px;height:700px;background:rgb(0,0,255)"></div>'.repeat(5)
  const board = (style: string) =>
    window(`<div style="display:flex;width:100%;overflow-x:auto;${style}">${lists}</div>`)
  const shot = await whole(board(''))
  t.match(shot, { width: 2000, height: 800 })
  t.strictSame(await pixel(shot, 1990, 600), blue)
  t.match(await whole(board(''), { full_page_width: 'viewport' }), { width: 1280 })
  t.match(await whole(board('scroll-snap-type:x mandatory')), { width: 1280 })
})

t.test('worker full page: an element that scrolls by itself is shown whole', async (t) => {
  const list = `<div id="list" style="width:200px;height:300px;overflow:auto">${long(1500)}</div>`
  t.match(await shoot({ html: redPage(list + below(3000)), selector: '#list' }), { width: 200, height: 1500 })
})

t.test('worker full page: a frame that fills the window is shown whole, of any site', async (t) => {
  const fills = 'style="border:0;display:block;width:100%;height:100%"'
  for (const [what, framed] of [
    ['a frame', window(`<iframe ${fills} src="${pages.url}/inner"></iframe>`)],
    ['an object', window(`<object ${fills} type="text/html" data="${pages.url}/inner"></object>`)],
    ['a frame set', `<frameset rows="100,*"><frame><frame src="${pages.url}/inner"></frameset>`],
  ] as const) {
    const { height, ...shot } = await shoot({ html: framed, full_page: true })
    t.ok(height >= 3000 && height <= 3110, `${what}: ${height}`)
    t.strictSame(await pixel(shot, 600, height - 50), blue, what)
  }
})
