import t from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import type { Shot } from '#worker/protocol/protocol.ts'
import { consentBanners, genuine } from '#test/fixtures/consent-banners.ts'
import { consentPlatforms } from '#test/fixtures/consent-platforms.ts'
import { framedPlatforms, pageAround } from '#test/fixtures/framed-platforms.ts'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { startManyHosts } from '#test/helpers/many-hosts.ts'
import { inShard } from '#test/helpers/in-shard.ts'
import { blue, pixel, red, redPage } from '#test/helpers/shots.ts'

const page = 'site.test'
/** Hosts of frames: one of the page's site, and one of another site. */
const consentHosts = ['consent.site.test', 'consent.test']
const platformPath = (name: string) => `/platform/${encodeURIComponent(name)}`
const { requests, shoot, urlOf } = await startManyHosts(t, [page, ...consentHosts], {
  routes: Object.fromEntries(
    [
      ...consentPlatforms.map(({ name, html }) => [platformPath(name), html] as const),
      ...framedPlatforms.map(({ target, html }) => [target.replace(/\?.*/, ''), html] as const),
    ].map(([path, html]): [string, Route] => [path, (_request, response) => response.end(html)]),
  ),
})

/** Warnings about a banner that is still visible. */
const left = ({ warnings }: Shot) => warnings.filter(({ code }) => code === 'consent_left')

t.test('worker consent: banners of known platforms are dismissed by clicks and not in the picture', async (t) => {
  const clickable = consentPlatforms.filter((each) => each.isClickable)
  t.ok(clickable.length >= 20, 'platforms')
  for (const { name } of inShard(clickable)) {
    requests.length = 0
    const url = urlOf(page, platformPath(name))
    const { warnings, ...shot } = await shoot({ url })
    t.strictSame(await pixel(shot, 20, 20), red, name)
    t.notOk(
      warnings.some(({ code }) => code === 'consent_left'),
      name,
    )
    t.ok(requests.includes(`${page}/clicked/${encodeURIComponent(name)}`), `${name} is clicked`)
  }
})

t.test('worker consent: banners in frames of any site are dismissed by clicks', async (t) => {
  for (const host of consentHosts) {
    for (const platform of inShard(framedPlatforms)) {
      requests.length = 0
      const shot = await shoot({ html: pageAround(platform, urlOf(host, '')) })
      const name = `${platform.name} at ${host}`
      t.ok(requests.includes(`${host}/clicked/${platform.name}`), `${name} is clicked`)
      t.strictSame(await pixel(shot, 20, 20), red, name)
      t.strictSame(left(shot), [], name)
    }
  }
})

/** A banner that no rule dismisses, above a red page. */
const banner = (style = '', inside = '') =>
  `<div id="onetrust-banner-sdk" style="position:fixed;left:0;top:0;width:400px;height:300px;background:rgb(0,0,255);${style}">${inside}x</div>`

t.test(
  'worker consent: a banner is hidden despite !important, in frames and shadow roots, and when inserted late',
  async (t) => {
    const shadow = `<div id="host"></div><script>host.attachShadow({ mode: 'open' }).innerHTML = ${JSON.stringify(banner())}</script>`
    const late = `<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(banner())}), 500)</script>`
    const pages: Record<string, [string, CaptureParameters?]> = {
      important: [banner('display:block !important')],
      shadow: [shadow],
      late: [late, { delay: 1 }],
      frame: [`<iframe style="border:0;width:500px;height:400px" srcdoc='${banner()}'></iframe>`],
    }
    for (const [name, [html, parameters]] of Object.entries(pages)) {
      const shot = await shoot({ html: redPage(html), ...parameters })
      t.notSame(await pixel(shot, 100, 100), blue, name)
      t.strictSame(left(shot), [], name)
      t.strictSame(
        await pixel(await shoot({ html: redPage(html), ...parameters, block_cookies: false }), 100, 100),
        blue,
        `${name} without`,
      )
    }
  },
)

t.test('worker consent: a banner that the page reinserts causes a warning, unless block_cookies is off', async (t) => {
  const stubborn = `<script>
    const put = () => {
      document.getElementById('onetrust-banner-sdk')?.remove()
      document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(banner('display:block !important'))})
    }
    put()
    new MutationObserver(() => { if (document.querySelector('#onetrust-banner-sdk').style.display === 'none') put() })
      .observe(document, { subtree: true, childList: true, attributes: true })
  </script>`
  t.match(left(await shoot({ html: redPage(stubborn) })), [{ code: 'consent_left' }])
  t.strictSame(left(await shoot({ html: redPage(stubborn), block_cookies: false })), [])
})

t.test('worker consent: menus and tables of contents that speak of cookies stay', async (t) => {
  const style = 'style="position:sticky;top:0;width:400px;height:300px;background:rgb(0,0,255)"'
  const contents = '<a href="#c">Cookies and consent</a> <a href="#o">How to opt out</a>'
  const sections = '<h2 id="c">Cookies and consent</h2><h2 id="o">How to opt out</h2><p style="height:2000px">'
  for (const [name, html] of Object.entries({
    contents: `<div ${style}>${contents}</div>${sections}`,
    menu: `<nav ${style}><a href="/set-cookie">Set-Cookie</a> <a href="/allow">Access-Control-Allow-Origin</a> cookies</nav>`,
  }))
    t.strictSame(await pixel(await shoot({ html: redPage(html) }), 300, 200), blue, name)
  const asking = `<nav ${style}>We use cookies. <a href="#">Accept all</a></nav>`
  t.notSame(await pixel(await shoot({ html: redPage(asking) }), 300, 200), blue, 'but not a banner')
})

t.test('worker consent: a full page is captured whole although its banner blocks scrolling', async (t) => {
  const style = '<style>html, body { overflow: hidden !important; height: 100%; margin: 0 }</style>'
  const locked = redPage(`${style}${banner()}<div style="height:3000px"></div>`)
  const { height } = await shoot({ html: locked, full_page: true })
  t.equal(height, 3000)
})

t.test('worker consent: a page cannot reach the consent rules by messages, events or globals', async (t) => {
  const flood = `<script>
    const seen = []
    const names = ['autoconsentSendMessage', 'autoconsentReceiveMessage', 'shutterfleetConsent']
    const send = () => {
      for (const name of names) if (window[name] !== undefined) document.title = name
      for (let i = 0; i < 200; i += 1) {
        window.autoconsentSendMessage?.({ type: 'eval', id: 'a', snippetId: 'EVAL_0' })
        postMessage({ type: 'evalResp', id: 'a', result: true }, '*')
        dispatchEvent(new CustomEvent('autoconsent', { detail: { type: 'optOutResult' } }))
      }
      setTimeout(send, 5)
    }
    send()
    // What autoconsent's functions ask for in the page's own world.
    window.Cookiebot = { get dialog() { for (;;) {} }, get hasResponse() { for (;;) {} } }
    window.__cmp = () => ({ toString() { throw new Error('no') } })
    Object.defineProperty(Array.prototype, 'toJSON', { value: () => 'taken' })
  </script>`
  const shot = await shoot({ html: redPage(flood + banner()), extract_metadata: true })
  t.strictSame(await pixel(shot, 100, 100), red)
  t.equal(shot.metadata?.title ?? '', '')
  t.strictSame(await pixel(await shoot({ html: redPage('') }), 100, 100), red, 'the next capture')
})

/** Red at the place where every banner of the fixtures is: the page is there instead. */
const isRemoved = async (html: string): Promise<boolean> => {
  const shot = await shoot({ html: redPage(`${html}<main style="height:3000px"></main>`) })
  const [r = 0, , b = 255] = await pixel(shot, 20, 20)
  return r > 200 && b < 50
}

t.test(
  'worker consent: banners without a known platform are detected by their wording in many languages, and removed',
  async (t) => {
    const missed: string[] = []
    const tried = inShard(consentBanners)
    for (const { name, html } of tried) if (!(await isRemoved(html))) missed.push(name)
    t.comment(`missed ${missed.length} of ${tried.length}: ${missed.join('; ')}`)
    t.ok(consentBanners.length >= 60 && missed.length <= Math.ceil(tried.length * 0.05))
  },
)

t.test('worker consent: dialogs and content other than banners are kept', async (t) => {
  const removed: string[] = []
  for (const { name, html } of inShard(genuine)) if (await isRemoved(html)) removed.push(name)
  t.ok(genuine.length >= 60)
  t.same(removed, [])
})

t.test('worker consent: banners and modals of listed names are hidden', async (t) => {
  for (const names of ['orejime-Banner', 'orejime-Notice', 'orejime-ModalOverlay'])
    t.ok(await isRemoved(`<div class="${names}" style="position:fixed;inset:0;background:rgb(0,0,255)"></div>`), names)
})
