import t from 'tap'
import { cacheKeyText, prepareCapture } from '#gateway/capture/prepare-capture.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { noTargets, TargetsCache } from '#gateway/db/targets-cache.ts'
import { parseCapture } from '#gateway/parameters/parse-capture.ts'
import { sealedCodec } from '#shared/queue/messages.ts'
import { open } from '#shared/queue/seal.ts'
import { createTestContext } from '#test/helpers/gateway-context.ts'
import { captureParameters, type CaptureParameters, withDefaults } from '#shared/capture/options.ts'

const prepare = async (parameters: Readonly<Record<string, unknown>>, targets = noTargets) => {
  const context = createTestContext()
  const parsed = parseCapture(parameters, { allow: [], hasStealth: true })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors))
  const id = crypto.randomUUID()
  const capture = await prepareCapture(context, { id, parsed, targets })
  const openWith = (pool: Pool) => sealedCodec.decode(open([context.openingKeys[pool]], id, capture.sealed))
  return { capture, openWith }
}

t.test(
  "prepare capture: seals a capture with a caller's proxy for the proxied pool only, and masks its password",
  async (t) => {
    const proxy = 'socks5://user:s3cr3t@proxy.example.com:1080'
    const { capture, openWith } = await prepare({ url: 'https://example.com/', proxy })
    t.match(capture, { pool: 'proxied', features: ['proxy'] })
    t.equal(openWith('proxied').options.proxy, proxy)
    t.throws(() => openWith('standard'), { code: 'JOB_FAILED' })
    t.equal(capture.options['proxy'], 'socks5://user:***@proxy.example.com:1080')
    t.notMatch(JSON.stringify({ ...capture, sealed: '' }), 's3cr3t')
  },
)

t.test('prepare capture: seals a capture with stealth for the stealth pool only', async (t) => {
  const { capture, openWith } = await prepare({ url: 'https://example.com/', stealth: true })
  t.match(capture, { pool: 'stealth', features: ['stealth'] })
  t.equal(openWith('stealth').options.stealth, true)
  t.throws(() => openWith('standard'), { code: 'JOB_FAILED' })
})

t.test('prepare capture: sends every other capture to the standard pool', async (t) => {
  const { capture, openWith } = await prepare({ url: 'https://example.com/' })
  t.equal(capture.pool, 'standard')
  t.equal(openWith('standard').options.url, 'https://example.com/')
  t.throws(() => openWith('proxied'), { code: 'JOB_FAILED' })
})

// Contract: Time budget
t.test('prepare capture: an attempt has timeout, delay and 20 seconds', async (t) => {
  const budgetOf = async (parameters: object) =>
    (await prepare({ url: 'https://example.com/', ...parameters })).capture.budgetMs
  t.equal(await budgetOf({}), 50_000)
  t.equal(await budgetOf({ timeout: 5 }), 25_000)
  t.equal(await budgetOf({ timeout: 60, delay: 10 }), 90_000)
})

const text = (supplied: CaptureParameters) => cacheKeyText(withDefaults(supplied))
const plain = { url: 'https://example.com/' }

// Contract: Cache key
t.test('cache text: is the same for captures that look the same', async (t) => {
  const same: readonly CaptureParameters[] = [
    { width: 1280, full_page: false, ...plain },
    { url: 'HTTPS://EXAMPLE.com:443' },
    { ...plain, cache_ttl: 60, webhook_url: 'https://a.com/', response_type: 'json', filename: 'a' },
    { ...plain, upload_to: 'a', upload_key: 'b' },
  ]
  for (const supplied of same) t.equal(text(supplied), text(plain), JSON.stringify(supplied))
  const geolocation = { latitude: 1, longitude: 2 }
  t.equal(text({ ...plain, geolocation }), text({ ...plain, geolocation: { longitude: 2, latitude: 1 } }))
})

// Contract: Cache key
t.test('cache text: differs for every other parameter', async (t) => {
  const others: CaptureParameters = {
    ...{ html: '<p>', markdown: '#', width: 400, height: 300, device: 'mobile', retina: true, format: 'webp' },
    ...{ quality: 1, resize_width: 20, resize_height: 20, omit_background: true, pdf_landscape: true },
    ...{ pdf_page_format: 'A3', pdf_margin_top: '0', pdf_margin_right: '0', pdf_margin_bottom: '0' },
    ...{ pdf_margin_left: '0', delay: 1, timeout: 5, wait_for_selector: 'a', full_page: true, selector: 'a' },
    ...{ wait_until: 'network_idle', wait_for_selector_hidden: 'a', wait_for_function: 'a', fail_on_status: true },
    ...{ on_timeout: 'capture' },
    ...{ fail_if_selector_missing: 'a', fail_if_selector_present: 'a', fail_if_text: 'a', animations: 'allow' },
    ...{ full_page_mode: 'sections', full_page_width: 'viewport', full_page_max_height: 300, scale: 3 },
    ...{ orientation: 'portrait', resize_mode: 'cover', resize_position: 'top', media_type: 'print', locale: 'de' },
    ...{ clip: { x: 0, y: 0, width: 1, height: 1 }, block_requests: ['a'], block_resources: ['image'] },
    ...{
      pdf_width: '50mm',
      pdf_height: '50mm',
      pdf_scale: 2,
      pdf_fit: 'none',
      pdf_background: false,
      pdf_page_ranges: '1',
    },
    ...{ pdf_header: 'a', pdf_footer: 'a', pdf_outline: true, delay_ms: 5, block_trackers: true, block_popups: true },
    ...{ actions: [{ type: 'scroll', y: 1 }], local_storage: { a: 'b' }, session_storage: { a: 'b' } },
    ...{ pdf_single_page: true, pdf_css_page_size: true, outputs: ['text'], renditions: [{ format: 'webp' }] },
    ...{ click_selector: 'a', scroll_to: 'a', hide_selectors: ['a'], css: 'a', js: 'a', headers: { a: 'b' } },
    ...{ header_origins: ['https://a.com'] },
    ...{ cookies: [{ name: 'a', value: 'b' }], block_cookies: false, block_ads: true, block_chats: true },
    ...{ dark_mode: true, reduced_motion: true, user_agent: 'a', stealth: true, timezone: 'UTC' },
    ...{ geolocation: { latitude: 0, longitude: 0 }, proxy: 'http://a.com:1', extract_metadata: true },
  }
  const apart = ['url', 'cache_ttl', 'webhook_url', 'upload_to', 'upload_key', 'response_type', 'filename']
  const names = [...apart, ...Object.keys(others)]
  t.same(names.toSorted(), Object.keys(captureParameters.properties).toSorted())
  const texts = Object.entries(others).map(([name, value]) => text({ ...plain, [name]: value }))
  t.equal(new Set([...texts, text(plain), text({ url: 'https://example.com/x' })]).size, texts.length + 2)
  t.not(text({ ...plain, hide_selectors: ['a', 'b'] }), text({ ...plain, hide_selectors: ['b', 'a'] }))
})

t.test(
  'prepare capture: seals the lists of targets of the account, and names them to the accept statement',
  async (t) => {
    const texts = { allow: ['example.com'], deny: ['*.ads.example'] }
    const cache = new TargetsCache()
    const issuer = { keyHash: Buffer.from('a key') }
    cache.store(issuer, { texts, sha256: Buffer.from('digest') })
    const { capture, openWith } = await prepare({ url: 'https://example.com/' }, cache.find(issuer))
    t.strictSame(openWith('standard').targets, texts)
    t.same(capture.targetsSha256, Buffer.from('digest'))
    const without = await prepare({ url: 'https://example.com/' })
    t.equal(without.openWith('standard').targets, undefined)
    t.equal(without.capture.targetsSha256, undefined)
  },
)
