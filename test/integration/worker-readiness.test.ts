import sharp from 'sharp'
import t from 'tap'
import { endsBeforeMs } from '#shared/capture/budget.ts'
import { withDefaults } from '#shared/capture/options.ts'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { blue, pixel, red, redPage, startCaptureEnvironment } from '#test/helpers/shots.ts'

const svg = { 'content-type': 'image/svg+xml' }
const blueSquare =
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><rect width="200" height="200" fill="blue"/></svg>'

/** Responds after `ms`, longer than a page waits by itself. */
const late =
  (ms: number): Route =>
  (_request, response) =>
    void setTimeout(() => response.writeHead(200, svg).end(blueSquare), ms)

/** A grey image that takes several frames to decode. */
const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const
const greyImage = await sharp({ create: { width: 4000, height: 3000, channels: 3, background: 'grey', noise } })
  .jpeg()
  .toBuffer()
const largeImages = [1, 2, 3, 4].map(
  (n) => `<img src="/large?${n}" decoding="async" style="width:1280px;height:200px;float:left">`,
)

const { pages, host, shoot } = await startCaptureEnvironment(t, {
  '/late.svg': late(700),
  '/never.svg': () => {},
  '/large': (_request, response) => response.writeHead(200, { 'content-type': 'image/jpeg' }).end(greyImage),
  '/large-images': (_request, response) => response.end(redPage(largeImages.join(''))),
  '/fetching': (_request, response) =>
    response.end(
      redPage(`<script>onload = async () => {
        for (let times = 0; times < 3; times += 1) {
          await fetch('/late.svg')
          await new Promise((done) => setTimeout(done, 200))
        }
        document.body.style.background = 'rgb(0,0,255)'
      }</script>`),
    ),
  '/framing': ({ headers }, response) => {
    const other = `http://localhost:${headers.host?.split(':')[1]}`
    response.end(redPage(`<iframe src="${other}/plain"></iframe><script>new Worker('/worker.js')</script>`))
  },
  '/worker.js': (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/javascript' }).end('postMessage(1)'),
  '/restless': (_request, response) =>
    response.end(redPage(`<script>setInterval(() => fetch('/plain'), 100)</script>`)),
})

t.test('worker readiness: a background image that loads after the load event is in the picture', async (t) => {
  const background = `<div style="width:200px;height:200px"></div><script>
    onload = () => { document.querySelector('div').style.backgroundImage = 'url(/late.svg)' }
  </script>`
  const shot = await shoot({ html: redPage(background.replace('/late.svg', `${pages.url}/late.svg`)) })
  t.strictSame(await pixel(shot, 100, 100), blue)
})

t.test('worker readiness: images that decode slowly are in the picture despite decoding=async', async (t) => {
  for (let times = 0; times < 5; times += 1) {
    const shot = await shoot({ url: `${pages.url}/large-images` })
    const greens = [1, 2, 3, 4].map(async (n) => (await pixel(shot, 600, n * 200 - 100))[1] ?? 0)
    t.ok(Math.min(...(await Promise.all(greens))) > 20)
  }
})

t.test(
  'worker readiness: a late image is in the picture, without warnings, although the page stops its load event',
  async (t) => {
    const stopped = `<script>
    onload = () => {
      document.body.append(Object.assign(new Image(200, 200), { src: '${pages.url}/late.svg' }))
    }
    for (const target of [window, document]) {
      for (const type of ['load', 'error']) target.addEventListener(type, (event) => event.stopImmediatePropagation(), true)
    }
  </script>`
    const shot = await shoot({ html: redPage(stopped) })
    t.strictSame(await pixel(shot, 100, 100), blue)
    t.strictSame(shot.warnings, [])
  },
)

t.test('worker readiness: a page that keeps changing is waited for, for a limited time', async (t) => {
  const building = `<script>onload = () => {
    let steps = 0
    const step = () => {
      steps += 1
      document.body.dataset.step = steps
      if (steps === 20) document.body.style.background = 'rgb(0,0,255)'
      else requestAnimationFrame(step)
    }
    step()
  }</script>`
  t.strictSame(await pixel(await shoot({ html: redPage(building) }), 100, 100), blue)
  const endless = `<script>setInterval(() => { document.body.dataset.time = Date.now() }, 20)</script>`
  t.strictSame(await pixel(await shoot({ html: redPage(endless) }), 100, 100), red)
})

t.test('worker readiness: the time for the picture is reserved, whatever the page waits for', async (t) => {
  const image = `<script>
    onload = () => document.body.append(Object.assign(new Image(200, 200), { src: '${pages.url}/never.svg' }))
  </script>`
  const options = withDefaults({ html: redPage(image), js: 'await new Promise(() => {})', timeout: 5 })
  const order = { id: crypto.randomUUID(), accountId: crypto.randomUUID(), options, online: true }
  const outcome = await host.capture(order, performance.now() + 8500 + endsBeforeMs.page)
  if (outcome.outcome !== 'completed') return t.fail(outcome.detail)
  t.strictSame(await pixel(outcome.shot, 600, 600), red)
  t.match(outcome.shot.warnings, [{ code: 'js_failed' }, { code: 'undecoded_images' }])
})

t.test('worker readiness: network_idle waits for requests after the load event', async (t) => {
  t.strictSame(await pixel(await shoot({ url: `${pages.url}/fetching`, wait_until: 'network_idle' }), 9, 9), blue)
})

t.test(
  'worker readiness: network_idle does not wait for what frames of other sites and workers load themselves',
  async (t) => {
    const { warnings } = await shoot({ url: `${pages.url}/framing`, wait_until: 'network_idle' })
    t.same(warnings, [])
  },
)

t.test(
  'worker readiness: with network_idle a page that never stops requesting is captured at its timeout with a warning',
  async (t) => {
    const { warnings } = await shoot({ url: `${pages.url}/restless`, wait_until: 'network_idle', timeout: 5 })
    t.match(warnings, [{ code: 'network_busy' }])
  },
)

t.test('worker readiness: a broken image looks the same each time', async (t) => {
  const broken = redPage(`<img src="${pages.url}/missing.png" alt="gone" width="100" height="100">`)
  const pictures = new Set<string>()
  for (let round = 0; round < 12; round += 1) {
    const { bytes } = await shoot({ html: broken })
    pictures.add(Buffer.from(bytes).toString('base64'))
  }
  t.equal(pictures.size, 1)
})
