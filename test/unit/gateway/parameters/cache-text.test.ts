import t from 'tap'
import { cacheTextOf } from '#gateway/parameters/cache-text.ts'
import { captureParameters, type CaptureParameters, withDefaults } from '#shared/capture/options.ts'

const text = (supplied: CaptureParameters) => cacheTextOf(withDefaults(supplied))
const plain = { url: 'https://example.com/' }

// Contract: Cache key
t.test('cache text: what looks the same has one text', async (t) => {
  const same: readonly CaptureParameters[] = [
    { width: 1280, full_page: false, ...plain },
    { url: 'HTTPS://EXAMPLE.com:443' },
    { ...plain, cache_ttl: 60, webhook_url: 'https://a.com/', response_type: 'json' },
  ]
  for (const supplied of same) t.equal(text(supplied), text(plain), JSON.stringify(supplied))
  const geolocation = { latitude: 1, longitude: 2 }
  t.equal(text({ ...plain, geolocation }), text({ ...plain, geolocation: { longitude: 2, latitude: 1 } }))
})

// Contract: Cache key
t.test('cache text: every other parameter makes another text', async (t) => {
  const others: CaptureParameters = {
    ...{ html: '<p>', markdown: '#', width: 400, height: 300, device: 'mobile', retina: true, format: 'webp' },
    ...{ quality: 1, resize_width: 20, resize_height: 20, omit_background: true, pdf_landscape: true },
    ...{ pdf_page_format: 'A3', pdf_margin_top: '0', pdf_margin_right: '0', pdf_margin_bottom: '0' },
    ...{ pdf_margin_left: '0', delay: 1, timeout: 5, wait_for_selector: 'a', full_page: true, selector: 'a' },
    wait_until: 'network_idle',
    ...{ click_selector: 'a', scroll_to: 'a', hide_selectors: ['a'], css: 'a', js: 'a', headers: { a: 'b' } },
    ...{ cookies: [{ name: 'a', value: 'b' }], block_cookies: false, block_ads: true, block_chats: true },
    ...{ dark_mode: true, reduced_motion: true, user_agent: 'a', stealth: true, timezone: 'UTC' },
    ...{ geolocation: { latitude: 0, longitude: 0 }, proxy: 'http://a.com:1', extract_metadata: true },
  }
  const names = ['url', 'cache_ttl', 'webhook_url', 'response_type', ...Object.keys(others)]
  t.same(names.toSorted(), Object.keys(captureParameters.properties).toSorted())
  const texts = Object.entries(others).map(([name, value]) => text({ ...plain, [name]: value }))
  t.equal(new Set([...texts, text(plain), text({ url: 'https://example.com/x' })]).size, texts.length + 2)
  t.not(text({ ...plain, hide_selectors: ['a', 'b'] }), text({ ...plain, hide_selectors: ['b', 'a'] }))
})
