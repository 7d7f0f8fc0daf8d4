import sharp from 'sharp'
import t from 'tap'
import { blue, pixel, red, redPage, startCaptureEnvironment } from '#test/helpers/shots.ts'

const requests: (string | undefined)[] = []
const { pages, shoot, take } = await startCaptureEnvironment(t, {
  '/languages': (request, response) => {
    requests.push(request.headers['accept-language'])
    response.setHeader('content-type', 'text/html')
    response.end(redPage(''))
  },
})

const marked = redPage(
  '<div style="position:absolute;left:100px;top:1500px;width:50px;height:50px;background:rgb(0,0,255)"></div><div style="height:3000px">',
)

t.test('worker view: a clip is a part of the viewport or of the full page', async (t) => {
  const part = await shoot({ html: marked, full_page: true, clip: { x: 90, y: 1490, width: 70, height: 80 } })
  t.match(await sharp(part.bytes).metadata(), { width: 70, height: 80 })
  t.strictSame([await pixel(part, 5, 5), await pixel(part, 10, 10)], [red, blue])
  const sections = await shoot({
    html: marked,
    full_page: true,
    full_page_mode: 'sections',
    clip: { x: 90, y: 1490, width: 70, height: 1000 },
  })
  t.strictSame([await pixel(sections, 5, 5), await pixel(sections, 10, 10)], [red, blue])
  const cut = await shoot({ html: marked, clip: { x: 1200, y: 700, width: 500, height: 500 }, retina: true })
  t.match(cut, { width: 160, height: 200 })
  const outside = await take({ html: marked, clip: { x: 1280, y: 0, width: 1, height: 1 } })
  t.match(outside, { code: 'RENDER_ERROR', blame: 'caller', message: /clip lies outside of the 1280 x 800/ })
})

t.test('worker view: an element with display: contents is captured as what is in it', async (t) => {
  const box = '<p style="width:200px;height:80px;margin:0;background:rgb(0,0,255)"></p>'
  const shadow = `<x-box><template shadowrootmode="open"><style>:host { display: contents }</style><slot></slot>${box}</template>${box}</x-box>`
  for (const html of [`<main style="display:contents">${box}<i style="display:contents">${box}</i></main>`, shadow]) {
    const shot = await shoot({ html: redPage(html), selector: 'main, x-box' })
    t.match(shot, { width: 200, height: 160 })
    t.strictSame([await pixel(shot, 1, 1), await pixel(shot, 199, 159)], [blue, blue])
  }
  t.ok((await shoot({ html: '<b style="display:contents">only a text</b>', selector: 'b' })).width < 150)
})

t.test('worker view: an element that scrolls sideways is captured whole', async (t) => {
  const wide =
    '<div style="width:900px;height:50px;background:linear-gradient(90deg, red 95%, rgb(0,0,255) 95%)"></div>'
  const shot = await shoot({
    html: `<div id="list" style="width:300px;overflow-x:auto">${wide}</div>`,
    selector: '#list',
  })
  t.match(shot, { width: 900, height: 50 })
  t.strictSame(await pixel(shot, 895, 20), blue)
})

t.test('worker view: scale gives device pixels, and takes precedence over retina', async (t) => {
  for (const [scale, width] of [
    [1, 400],
    [1.5, 600],
    [4, 1600],
  ] as const) {
    const shot = await shoot({
      html: redPage(''),
      width: 400,
      height: 300,
      scale,
      retina: true,
      js: `document.title = devicePixelRatio`,
    })
    t.match(await sharp(shot.bytes).metadata(), { width, height: width * 0.75 })
  }
})

t.test('worker view: a device lies on its side, and pages see that', async (t) => {
  const js = "if (screen.orientation.type === 'landscape-primary') document.body.style.background = 'rgb(0,0,255)'"
  const shot = await shoot({ html: redPage(''), device: 'mobile', orientation: 'landscape', js })
  t.match(shot, { width: 812, height: 375 })
  t.strictSame(await pixel(shot, 50, 50), blue)
})

t.test('worker view: a locale is in requests and in scripts', async (t) => {
  const js = `if (navigator.language === 'fr-CA' && navigator.languages.join() === 'fr-CA,fr' && (0.5).toLocaleString() === '0,5')
    document.body.style.background = 'rgb(0,0,255)'`
  const shot = await shoot({ url: `${pages.url}/languages`, locale: 'fr-CA', js })
  t.strictSame(await pixel(shot, 50, 50), blue)
  t.match(requests.at(-1), /^fr-CA,fr;q=0\.\d$/)
})

t.test('worker view: the media type of styles is that of the request', async (t) => {
  const html = redPage('<style>@media print { body { background: rgb(0,0,255) !important } }</style>')
  t.strictSame(await pixel(await shoot({ html, media_type: 'print' }), 50, 50), blue)
  t.strictSame(await pixel(await shoot({ html }), 50, 50), red)
})

t.test('worker view: a resized image covers its size, or is contained in it', async (t) => {
  const html = redPage('<div style="height:400px;background:rgb(0,0,255)"></div>')
  const resized = { html, resize_width: 200, resize_height: 200 }
  t.match(await shoot(resized), { width: 200, height: 125 })
  const covers = async (position: 'top' | 'bottom') =>
    await shoot({ ...resized, resize_mode: 'cover', resize_position: position, resize_height: 50 })
  for (const [position, colour] of [
    ['top', blue],
    ['bottom', red],
  ] as const) {
    const shot = await covers(position)
    t.match(await sharp(shot.bytes).metadata(), { width: 200, height: 50 })
    t.strictSame(await pixel(shot, 100, 25), colour, position)
  }
  const contained = await shoot({ ...resized, resize_mode: 'contain', resize_position: 'bottom' })
  t.match(await sharp(contained.bytes).metadata(), { width: 200, height: 200 })
  t.strictSame(await Promise.all([30, 90, 190].map((y) => pixel(contained, 100, y))), [[255, 255, 255], blue, red])
  const large = await shoot({
    html,
    width: 320,
    height: 200,
    resize_width: 1000,
    resize_height: 100,
    resize_mode: 'cover',
  })
  t.match(await sharp(large.bytes).metadata(), { width: large.width, height: large.height })
  t.match(large, { width: 320, height: 100 })
})

t.test('worker view: requests are blocked by kind and by address, the page itself never', async (t) => {
  const page = redPage(
    `<img src="${pages.url}/square.svg" onerror="document.body.style.background='rgb(0,0,255)'"><link rel="stylesheet" href="${pages.url}/plain">`,
  )
  for (const [parameters, colour, hits] of [
    [{ block_resources: ['image'] }, blue, ['/plain']],
    [{ block_requests: ['*/square.*'] }, blue, ['/plain']],
    [{ block_requests: ['*'], block_resources: ['stylesheet'] }, blue, []],
    [{}, red, ['/plain', '/square.svg']],
  ] as const) {
    pages.hits.length = 0
    const shot = await shoot({ html: page, ...parameters } as Parameters<typeof shoot>[0])
    t.strictSame(await pixel(shot, 600, 600), colour, JSON.stringify(parameters))
    t.strictSame(pages.hits.toSorted(), hits, JSON.stringify(parameters))
  }
  t.match(await take({ url: `${pages.url}/plain`, block_requests: ['*'] }), { outcome: 'completed' })
})

t.test('worker view: a named device has its size, pixels and user agent', async (t) => {
  const js = String.raw`const { userAgent, maxTouchPoints } = navigator
    const isPixel = /Android 10; K\).* Chrome\/\d+\.0\.0\.0 Mobile/.test(userAgent) && devicePixelRatio === 2.625
    if (isPixel && maxTouchPoints > 0) document.body.style.background = 'rgb(0,0,255)'`
  const shot = await shoot({ url: `${pages.url}/languages`, device: 'pixel_9', js })
  t.strictSame(await pixel(shot, 50, 50), blue)
  t.match(await sharp(shot.bytes).metadata(), { width: shot.width, height: shot.height })
  t.match(await shoot({ url: `${pages.url}/languages`, device: 'galaxy_s24', scale: 1 }), { width: 360, height: 780 })
})
