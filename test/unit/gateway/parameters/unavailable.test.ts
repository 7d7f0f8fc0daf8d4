import t from 'tap'
import { captureParameters, type CaptureParameters } from '#shared/capture/options.ts'
import { unavailableIn } from '#gateway/parameters/unavailable.ts'

const available: CaptureParameters = {
  url: 'https://example.com/',
  html: '<p>',
  width: 400,
  height: 300,
  format: 'pdf',
  quality: 50,
  full_page: true,
  delay: 1,
  timeout: 10,
  wait_for_selector: 'a',
  proxy: 'http://p.example.com:1',
  cache_ttl: 1,
  webhook_url: 'https://a.com/',
  response_type: 'json',
  markdown: '#',
  device: 'mobile',
  retina: true,
  resize_width: 100,
  resize_height: 100,
  omit_background: true,
  pdf_landscape: true,
  pdf_page_format: 'A3',
  pdf_margin_top: '0',
  pdf_margin_right: '0',
  pdf_margin_bottom: '0',
  pdf_margin_left: '0',
  selector: 'a',
  click_selector: 'a',
  scroll_to: 'a',
  hide_selectors: ['a'],
  css: 'a{}',
  js: '1',
  headers: { a: 'b' },
  cookies: [{ name: 'a', value: 'b' }],
  dark_mode: true,
  reduced_motion: true,
  user_agent: 'a',
  timezone: 'UTC',
  geolocation: { latitude: 0, longitude: 0 },
  extract_metadata: true,
  block_cookies: true,
  block_ads: true,
  block_chats: true,
  stealth: true,
  wait_until: 'network_idle',
}

t.test('unavailable: every parameter of the contract is served where there is full Chromium', async (t) => {
  t.same(Object.keys(available).toSorted(), Object.keys(captureParameters.properties).toSorted())
  t.equal(unavailableIn(available, { hasStealth: true }), undefined)
})

t.test(
  'unavailable: stealth is not available where there is no full Chromium, and the settings that would change it are named',
  async (t) => {
    const settings = /SHUTTERFLEET_STEALTH_CHROMIUM .*SHUTTERFLEET_SEALING_KEY_STEALTH/
    t.match(unavailableIn({ stealth: true }, { hasStealth: false }), { stealth: [settings] })
    t.equal(unavailableIn({ stealth: false }, { hasStealth: false }), undefined)
  },
)
