import t from 'tap'
import { featureNames, usedFeatures } from '#shared/capture/features.ts'
import { captureParameters, type CaptureParameters, defaultOf, type ParameterName } from '#shared/capture/options.ts'

const uses: readonly [CaptureParameters, string[]][] = [
  [{}, []],
  [{ device: 'mobile' }, ['device_presets']],
  [{ device: 'tablet' }, ['device_presets']],
  [{ retina: true }, ['retina']],
  [{ scale: 1.5, wait_for_function: 'ready' }, ['retina', 'js']],
  [{ block_ads: true, block_chats: true }, ['block_ads', 'block_chats']],
  [{ format: 'pdf' }, ['pdf']],
  [{ format: 'tiff' }, []],
  [{ html: '<p>' }, ['html']],
  [{ markdown: '# a' }, ['markdown']],
  [{ webhook_url: 'https://a.com' }, ['webhooks']],
  [{ headers: { a: 'b' }, cookies: [{ name: 'a', value: 'b' }] }, ['headers', 'cookies']],
  [{ headers: {}, cookies: [], css: '', js: '' }, []],
  [{ dark_mode: true, css: 'a{}', js: '1' }, ['dark_mode', 'css', 'js']],
  [{ stealth: true, timezone: 'UTC', extract_metadata: true }, ['stealth', 'timezone', 'extract_metadata']],
  [{ geolocation: { latitude: 0, longitude: 0 }, proxy: 'http://p:1' }, ['geolocation', 'proxy']],
  [{ full_page: true, delay: 3, selector: 'a', block_cookies: true, omit_background: true, reduced_motion: true }, []],
]

for (const [supplied, features] of uses) {
  t.test(`features: ${JSON.stringify(supplied)} uses ${features.join(', ') || 'nothing'}`, async (t) => {
    t.same(usedFeatures(supplied), features)
  })
}

// Contract: Flags set to `false` or their default
t.test('features: a parameter at its default uses no feature', async (t) => {
  const names = Object.keys(captureParameters.properties) as ParameterName[]
  const defaults = Object.fromEntries(
    names.flatMap((name) => (defaultOf(name) === undefined ? [] : [[name, defaultOf(name)]])),
  )
  t.same(usedFeatures(defaults), [])
  const flags = names.filter((name) => typeof defaultOf(name) === 'boolean')
  t.equal(flags.length, 18)
  t.same(usedFeatures(Object.fromEntries(flags.map((name) => [name, false]))), [])
})

t.test('features: there are twenty features', async (t) => {
  t.equal(new Set(featureNames).size, 20)
})
