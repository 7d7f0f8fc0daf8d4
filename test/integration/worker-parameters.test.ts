import type { IncomingHttpHeaders } from 'node:http'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import { blue, pixel, red, redPage, startCaptureEnvironment } from '#test/helpers/shots.ts'

const received: { url: string; headers: IncomingHttpHeaders }[] = []
const strict = { 'content-type': 'text/html', 'content-security-policy': "default-src 'none'; frame-src *" }
const { pages, take, shoot } = await startCaptureEnvironment(t, {
  '/seen': ({ url = '', headers }, response) => {
    received.push({ url, headers })
    response.end(redPage('<p>seen'))
  },
  '/strict': (_request, response) => {
    response.writeHead(200, strict).end('<!doctype html><body><div id="box">x</div>')
  },
  '/framed': ({ headers }, response) => {
    const other = `http://localhost:${headers.host?.split(':')[1]}`
    response.end(redPage(`<iframe src="${other}/strict" style="border:0;width:400px;height:300px">`))
  },
  '/slow-next': (_request, response) => {
    setTimeout(() => response.end('<!doctype html><body style="background:rgb(0,0,255)">late'), 600)
  },
  '/departs': (_request, response) => {
    response.end(redPage('<script>setTimeout(() => { location = "/slow-next" }, 500)</script>'))
  },
  '/next': (_request, response) => response.end('<!doctype html><body style="background:rgb(0,0,255)">next'),
})

/** A page that becomes blue if `condition` holds in it. */
const asking = (condition: string) =>
  redPage(`<script>(async () => {
    if (await (${condition})) document.body.style.background = 'rgb(0,0,255)'
    document.body.id = 'settled'
  })()</script>`)

const holds = async (t: Test, name: string, parameters: CaptureParameters, condition: string) => {
  const shot = await shoot({ html: asking(condition), wait_for_selector: '#settled', ...parameters })
  t.strictSame(await pixel(shot, 100, 100), blue, name)
}

// Contract: `device` with `width`, `height`, `user_agent`
t.test(
  'worker parameters: a device preset sets viewport, touch, mobile layout and user agent; explicit values win',
  async (t) => {
    const mobile =
      'innerWidth === 375 && innerHeight === 812 && devicePixelRatio === 1 && /iPhone/.test(navigator.userAgent)'
    const viewport = '<meta name="viewport" content="width=device-width">'
    const html = (condition: string) => viewport + asking(condition)
    const shot = await shoot({ html: html(mobile), wait_for_selector: '#settled', device: 'mobile' })
    t.match(shot, { width: 375, height: 812 })
    t.strictSame(await pixel(shot, 100, 100), blue)
    await holds(
      t,
      'touch',
      { device: 'tablet' },
      "navigator.maxTouchPoints > 0 && matchMedia('(pointer: coarse)').matches",
    )
    await holds(t, 'no touch', {}, "navigator.maxTouchPoints === 0 && matchMedia('(hover: hover)').matches")
    t.match(await shoot({ html: 'x', device: 'tablet' }), { width: 768, height: 1024 })
    t.match(await shoot({ html: 'x', device: 'mobile', width: 400 }), { width: 400, height: 812 })
    await holds(t, 'layout', { device: 'mobile' }, 'document.documentElement.clientWidth === 980')
  },
)

// Contract: `retina`
t.test('worker parameters: retina doubles the pixels of every kind of picture', async (t) => {
  const html = redPage('<div id="a" style="width:100px;height:50px;background:rgb(0,0,255)">')
  const viewport = await shoot({ html, retina: true, width: 400, height: 300 })
  t.match(viewport, { width: 800, height: 600 })
  t.match(await sharp(viewport.bytes).metadata(), { width: 800, height: 600 })
  t.strictSame([await pixel(viewport, 199, 99), await pixel(viewport, 201, 99)], [blue, red])
  const element = await shoot({ html, retina: true, selector: '#a' })
  t.match(await sharp(element.bytes).metadata(), { width: 200, height: 100 })
  const tall = { html: redPage('<div style="height:1500px">'), width: 320, full_page: true, retina: true }
  t.match(await sharp((await shoot({ ...tall, format: 'jpeg' })).bytes).metadata(), { width: 640, height: 3000 })
  await holds(t, 'ratio', { retina: true }, 'devicePixelRatio === 2')
})

t.test('worker parameters: a page has the requested colour scheme, motion, time zone and user agent', async (t) => {
  await holds(t, 'dark', { dark_mode: true }, "matchMedia('(prefers-color-scheme: dark)').matches")
  await holds(t, 'light', {}, "matchMedia('(prefers-color-scheme: light)').matches")
  await holds(t, 'motion', { reduced_motion: true }, "matchMedia('(prefers-reduced-motion: reduce)').matches")
  await holds(t, 'any motion', {}, "matchMedia('(prefers-reduced-motion: no-preference)').matches")
  await holds(t, 'zone', { timezone: 'Asia/Tokyo' }, 'new Date(0).getHours() === 9')
  await holds(t, 'agent', { user_agent: 'Me/1.0' }, "navigator.userAgent === 'Me/1.0'")
  await holds(t, 'usual agent', {}, '/Chrome/.test(navigator.userAgent) && !/Headless/.test(navigator.userAgent)')
})

t.test('worker parameters: geolocation is the given one, and denied if none is given', async (t) => {
  const at =
    "new Promise((done) => navigator.geolocation.getCurrentPosition(({ coords }) => done(coords), () => done('denied')))"
  const geolocation = { latitude: 48.5, longitude: -3.25, accuracy: 12 }
  const url = `${pages.url}/seen`
  const locate = (condition: string) => ({
    url,
    js: `if (${condition.replace('AT', `await ${at}`)}) document.body.style.background = 'rgb(0,0,255)'`,
  })
  const isSpoofed = '((c) => c.latitude === 48.5 && c.longitude === -3.25 && c.accuracy === 12)(AT)'
  t.strictSame(await pixel(await shoot({ ...locate(isSpoofed), geolocation }), 500, 500), blue)
  t.strictSame(await pixel(await shoot(locate("(AT) === 'denied'")), 500, 500), blue)
})

t.test('worker parameters: the given user agent is sent, or the default one without Headless', async (t) => {
  received.length = 0
  await shoot({ url: `${pages.url}/seen`, user_agent: 'Me/1.0' })
  await shoot({ url: `${pages.url}/seen` })
  t.equal(received[0]?.headers['user-agent'], 'Me/1.0')
  t.match(received[1]?.headers['user-agent'], /Chrome\/\d+\.0\.0\.0 Safari/)
})

t.test(
  'worker parameters: cookies are sent to the target, with and without a domain, and to no other host',
  async (t) => {
    const local = pages.url.replace('127.0.0.1', 'localhost')
    received.length = 0
    await shoot({
      url: `${local}/seen`,
      cookies: [
        { name: 'a', value: '1' },
        { name: 'b', value: '2', domain: 'localhost' },
      ],
    })
    await shoot({ url: `${pages.url}/seen`, cookies: [{ name: 'c', value: '3', domain: '127.0.0.1' }] })
    await shoot({ url: `${pages.url}/seen` })
    for (const name of ['__Secure-a', '__Host-a', '__secure-a']) {
      const cookies = [{ name, value: '1', domain: 'example.com' }]
      t.match(await take({ url: `${pages.url}/plain`, cookies }), { outcome: 'completed' }, name)
    }
    t.same(
      received.map(({ headers }) => headers.cookie),
      ['a=1; b=2', 'c=3', undefined],
    )
  },
)

t.test(
  'worker parameters: css and hide_selectors work under a strict CSP, in shadow roots and in cross-site frames',
  async (t) => {
    const filled = { css: '#box { background: rgb(0,0,255) !important; width: 300px; height: 200px }' }
    t.strictSame(await pixel(await shoot({ url: `${pages.url}/strict`, ...filled }), 200, 100), blue, 'policy')
    t.strictSame(await pixel(await shoot({ url: `${pages.url}/framed`, ...filled }), 200, 100), blue, 'frame')
    const hidden = await shoot({ url: `${pages.url}/framed`, hide_selectors: ['iframe'] })
    t.strictSame(await pixel(hidden, 200, 100), red)
    t.same(hidden.warnings, [{ code: 'blank', message: 'The image has a single colour.' }])
    for (const mode of ['open', 'closed']) {
      const html = redPage(`<div id="host"></div><script>
      document.getElementById('host').attachShadow({ mode: '${mode}' }).innerHTML =
        '<div id="box" style="width:300px;height:200px;background:lime">in</div>'
    </script>`)
      t.strictSame(await pixel(await shoot({ html, ...filled }), 200, 100), blue, `${mode} root`)
      t.strictSame(await pixel(await shoot({ html, hide_selectors: ['#box'] }), 200, 100), red, `${mode} root, hidden`)
    }
  },
)

// Contract: Missing selectors
t.test(
  'worker parameters: an unmatched selector is a warning that names it, but an error for `selector`',
  async (t) => {
    const html = redPage('<h1>x</h1>')
    for (const parameter of ['click_selector', 'scroll_to'] as const) {
      const { warnings } = await shoot({ html, [parameter]: '#none' })
      t.match(warnings, [{ code: 'selector_not_found', message: /#none/ }], parameter)
      const framed = await shoot({ html: `${html}<iframe srcdoc="<i id=none>"></iframe>`, [parameter]: '#none' })
      t.match(framed.warnings, [{ message: /#none' matched nothing \(frames are not searched; the page has 1\)/ }])
    }
    t.match((await shoot({ html, hide_selectors: ['h1', '#none'] })).warnings[0], {
      message: /hide_selectors '#none'/,
    })
    t.match(await take({ html, selector: '#none' }), { code: 'RENDER_ERROR', message: /#none/ })
    t.match(await take({ html: redPage('<i id="a"></i>'), selector: '#a' }), { code: 'RENDER_ERROR', message: /#a/ })
  },
)

// Contract: Missing selectors
t.test('worker parameters: an invalid selector is an error that names it', async (t) => {
  const html = redPage('<h1>x</h1>')
  for (const parameter of ['wait_for_selector', 'selector', 'click_selector', 'scroll_to'] as const) {
    const message = `${parameter} ':none' is not a CSS selector.`
    t.match(await take({ html, [parameter]: ':none' }), { code: 'RENDER_ERROR', message })
  }
  const message = "hide_selectors ':none' is not a CSS selector."
  t.match(await take({ html, hide_selectors: ['h1', ':none'] }), { code: 'RENDER_ERROR', message })
})

t.test('worker parameters: js runs in the main world, may await and return; its errors are warnings', async (t) => {
  const html = redPage('<script>globalThis.mine = () => { document.body.style.background = "rgb(0,0,255)" }</script>')
  const awaited = await shoot({ html, js: 'await new Promise((done) => setTimeout(done, 50)); mine()' })
  t.strictSame(await pixel(awaited, 100, 100), blue)
  const returned = await shoot({ html, js: 'if (!globalThis.mine) return\nmine()\nreturn await 5' })
  t.strictSame(await pixel(returned, 100, 100), blue)
  t.same(returned.warnings, [{ code: 'blank', message: 'The image has a single colour.' }])
  const { warnings } = await shoot({ html, js: 'none()' })
  t.match(warnings, [{ code: 'js_failed', message: /none is not defined/ }, { code: 'blank' }])
  t.match(await shoot({ html, js: 'await new Promise(() => {})' }), {
    warnings: [{ code: 'js_failed', message: /did not end/ }, {}],
  })
  t.strictSame(
    await pixel(
      await shoot({ url: `${pages.url}/strict`, js: 'document.body.style.setProperty("background","rgb(0,0,255)")' }),
      600,
      600,
    ),
    blue,
  )
})

t.test('worker parameters: a click reaches a covered element, and its navigation is followed', async (t) => {
  const turns = 'onclick="document.body.style.background = \'rgb(0,0,255)\'"'
  const plain = redPage(`<button id="a" ${turns}>go</button>`)
  t.strictSame(await pixel(await shoot({ html: plain, click_selector: '#a' }), 600, 600), blue)
  const cover = '<div style="position:fixed;inset:0;opacity:0.01"></div>'
  t.strictSame(await pixel(await shoot({ html: plain + cover, click_selector: '#a' }), 600, 600), [0, 0, 255])
  const link = `<a id="a" href="/next">next</a>`
  const js = `document.body.innerHTML = ${JSON.stringify(link)}`
  const followed = await shoot({
    url: `${pages.url}/seen`,
    js,
    click_selector: '#a',
    css: 'body { border-left: 50px solid lime }',
  })
  t.equal(followed.finalUrl, `${pages.url}/next`)
  t.strictSame(await pixel(followed, 600, 600), blue)
  t.strictSame(await pixel(followed, 20, 15), [0, 255, 0], 'with the css parameter')
})

t.test(
  'worker parameters: a click scrolls only to what is out of view, and a page may be left that asks whether to',
  async (t) => {
    const button = (top: number) =>
      redPage(`<p style="height:100px;margin:0;background:lime"></p><div style="height:3000px"></div>
      <button id="a" style="position:absolute;top:${top}px">go</button>`)
    t.strictSame(await pixel(await shoot({ html: button(700), click_selector: '#a' }), 600, 50), [0, 255, 0])
    t.strictSame(await pixel(await shoot({ html: button(2000), click_selector: '#a' }), 600, 50), red)
    const js = `document.body.innerHTML = '<a id="a" href="/next">next</a>'; onbeforeunload = (event) => event.preventDefault()`
    const left = await shoot({ url: `${pages.url}/seen`, js, click_selector: '#a' })
    t.equal(left.finalUrl, `${pages.url}/next`)
  },
)

t.test('worker parameters: a document that the page navigates to after its load is waited for', async (t) => {
  const departed = await shoot({ url: `${pages.url}/departs`, delay: 1 })
  t.equal(departed.finalUrl, `${pages.url}/slow-next`)
  t.strictSame(await pixel(departed, 600, 600), blue, 'during the delay')
  const led = await shoot({ url: `${pages.url}/seen`, js: "location = '/slow-next'" })
  t.strictSame(await pixel(led, 600, 600), blue, 'by the script')
})
