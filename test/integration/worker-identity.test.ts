import t from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import { createIdentityProbe } from '#test/helpers/identity-probe.ts'
import { startCaptureEnvironment } from '#test/helpers/shots.ts'

const probe = createIdentityProbe()
const { pages, shoot } = await startCaptureEnvironment(t, probe.routes)

/** Waits until the page, its frame and their workers have reported, however busy the machine is. */
const probed = async (parameters: CaptureParameters = {}) => {
  await shoot({ url: `${pages.url}/probe`, wait_for_selector: '#settled', timeout: 60, ...parameters })
  return probe.take()
}

const texts = (brands: readonly { brand: string; version: string }[]) =>
  brands.map(({ brand, version }) => `"${brand}";v="${version}"`).join(', ')

t.test('worker identity: no identity value contains "Headless" in page, frames, workers or headers', async (t) => {
  const { probes, requests } = await probed()
  t.strictSame(Object.keys(probes).toSorted(), probe.places.toSorted())
  t.notMatch(JSON.stringify([probes, requests]), /headless/i)
  const major = /Chrome\/(\d+)\.0\.0\.0 /.exec(probes.page.userAgent)?.[1]
  for (const place of probe.places) {
    const { userAgent, languages, platform, hints } = probes[place]
    t.equal(userAgent, probes.page.userAgent, place)
    t.strictSame(languages, ['en-US'], place)
    t.equal(platform, 'Linux x86_64', place)
    t.strictSame(hints, probes.page.hints, place)
    t.match(hints, { mobile: false, platform: 'Linux', platformVersion: '', architecture: 'x86' }, place)
    t.match(hints?.brands.find(({ brand }) => brand === 'Chromium')?.version, major, place)
    t.equal(hints?.fullVersionList.find(({ brand }) => brand === 'Chromium')?.version, hints?.uaFullVersion, place)
  }
  const { brands = [] } = probes.page.hints ?? {}
  for (const { path, headers } of requests) {
    t.equal(headers['accept-language'], 'en-US', path)
    t.equal(headers['user-agent'], probes.page.userAgent, path)
    if ('sec-ch-ua' in headers) t.equal(headers['sec-ch-ua'], texts(brands), path)
  }
})

t.test(
  'worker identity: a device and a given user agent are consistent everywhere, with client hints only for Chromium',
  async (t) => {
    const safari = await probed({ device: 'mobile' })
    for (const { userAgent, hints } of Object.values(safari.probes)) {
      t.match(userAgent, /iPhone.*Safari/)
      t.notOk(hints?.brands.length)
    }
    // Chromium has no other platform for workers.
    t.match([safari.probes.page, safari.probes.frame], [{ platform: 'iPhone' }, { platform: 'iPhone' }])
    t.notOk(safari.requests.some(({ headers }) => 'sec-ch-ua' in headers))
    const chrome =
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36'
    const windows = await probed({ user_agent: chrome })
    for (const found of Object.values(windows.probes)) {
      t.match(found, { userAgent: chrome, hints: { platform: 'Windows', platformVersion: '10.0' } })
      t.match(found.hints?.brands, [{ brand: 'Chromium', version: '131' }])
    }
    t.equal(windows.probes.page.platform, 'Win32')
    t.ok(windows.requests.every(({ headers }) => (headers['sec-ch-ua-platform'] ?? '"Windows"') === '"Windows"'))
  },
)
