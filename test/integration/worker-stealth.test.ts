import sharp from 'sharp'
import t from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import { stealthChromiumPath } from '#test/helpers/bare-browser.ts'
import { captureWith, startPages, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { createIdentityProbe } from '#test/helpers/identity-probe.ts'
import { blue, pixel } from '#test/helpers/shots.ts'
import type { Browsers } from '#worker/protocol/protocol.ts'

const probe = createIdentityProbe()
const pages = await startPages(probe.routes)
const egress = await startTestEgress(`${pages.host} localhost:${pages.host.split(':')[1]}`, {
  localhost: { A: ['127.0.0.1'] },
})
const full: Browsers = { prewarmed: 'full', binaries: { full: stealthChromiumPath } }
const host = await startTestHost(egress, { browsers: full })
t.teardown(async () => {
  for (const part of [host, egress, pages]) await part[Symbol.asyncDispose]()
})

/** Has the longest timeout: full Chromium draws by its processor, and pages wait for their own condition. */
const shoot = async (parameters: CaptureParameters) => {
  const outcome = await captureWith(host, { timeout: 60, stealth: true, ...parameters })
  if (outcome.outcome !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.shot
}

const probed = async (parameters: CaptureParameters = {}) => {
  await shoot({ url: `${pages.url}/probe`, wait_for_selector: '#settled', ...parameters })
  return probe.take()
}

const ownBrands = [
  { brand: 'Not:A-Brand', version: '8' },
  { brand: 'Chromium', version: '156' },
]

t.test('stealth: a page finds the properties of a desktop browser', async (t) => {
  const { probes, requests } = await probed()
  t.notMatch(JSON.stringify([probes, requests]), /headless/i)
  for (const place of ['page', 'frame'] as const) {
    const found = probes[place]
    t.equal(found.webdriver, false, `${place}: webdriver`)
    t.equal(found.chrome, 'object', `${place}: chrome`)
    t.equal(found.plugins?.length, 5, `${place}: plugins`)
    t.equal(found.webgl, 'WebKit WebGL', `${place}: WebGL`)
    const [granted = '', state] = found.permissions ?? []
    t.equal({ default: 'prompt', denied: 'denied' }[granted], state, `${place}: permissions agree`)
    const { width, height, outerWidth, outerHeight, innerHeight } = found.screen
    t.ok(width >= outerWidth && height >= outerHeight && outerHeight > innerHeight, `${place}: a window on a screen`)
  }
  t.strictSame(probes.page.permissions, ['default', 'prompt'])
  const screen = { width: 1920, height: 1080, outerWidth: 1280, outerHeight: 885, innerWidth: 1280, innerHeight: 800 }
  t.strictSame(probes.page.screen, screen)
  for (const place of probe.places) {
    const { userAgent, languages, hints } = probes[place]
    t.match(userAgent, /^Mozilla\/5\.0 \(X11; Linux x86_64\) .* Chrome\/\d+\.0\.0\.0 Safari/, place)
    t.strictSame(languages, ['en-US', 'en'], place)
    t.strictSame(hints, probes.page.hints, place)
  }
  for (const { path, headers } of requests) {
    t.equal(headers['user-agent'], probes.page.userAgent, path)
    t.equal(headers['accept-language'], 'en-US,en;q=0.9', path)
  }
})

t.test("stealth: client hints are the browser's own", async (t) => {
  const { probes, requests } = await probed()
  const version = /Chrome\/(\d+)/.exec(probes.page.userAgent)?.[1]
  t.equal(probes.page.hints?.uaFullVersion.split('.')[0], version)
  if (version === '156') t.strictSame(probes.page.hints?.brands, ownBrands)
  const named = requests.flatMap(({ headers }) => headers['sec-ch-ua'] ?? [])
  t.ok(named.length > 0 && named.every((text) => text.includes(`"Chromium";v="${version}"`)))
})

t.test(
  'stealth: the window and the screen are larger than a given viewport; device emulation has no separate window or screen',
  async (t) => {
    const large = await probed({ width: 2200, height: 1300 })
    t.match(large.probes.page.screen, { width: 2560, height: 1440, outerHeight: 1385, innerHeight: 1300 })
    const { screen, userAgent } = (await probed({ device: 'mobile' })).probes.page
    t.match(screen, { width: 375, height: 812 })
    t.match(userAgent, /iPhone/)
    t.match(
      (await probed()).probes.page.screen,
      { width: 1920, outerHeight: 885 },
      'the next capture has the defaults again',
    )
  },
)

t.test('stealth: supports every output format', async (t) => {
  const html = '<body style="margin:0;background:rgb(0,0,255)"><div id="a" style="height:2000px;width:300px">x</div>'
  t.strictSame(await pixel(await shoot({ html }), 600, 600), blue)
  t.match(await shoot({ html, full_page: true, format: 'jpeg' }), { width: 1280, height: 2000 })
  t.match(await shoot({ html, selector: '#a', format: 'webp' }), { width: 300, height: 2000 })
  t.match(await shoot({ html, retina: true }), { width: 2560, height: 1600 })
  const transparent = await shoot({ html: '<p>x', omit_background: true })
  t.equal((await sharp(transparent.bytes).stats()).channels[3]?.min, 0)
  const pdf = await shoot({ html, format: 'pdf' })
  t.equal(Buffer.from(pdf.bytes.subarray(0, 5)).toString(), '%PDF-')
})
