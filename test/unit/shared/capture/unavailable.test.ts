import t from 'tap'
import { captureParameters, type CaptureParameters, defaultOf, type ParameterName } from '#shared/capture/options.ts'
import { unavailableIn } from '#shared/capture/unavailable.ts'

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
}

/** A value of every other parameter that asks for something. */
const asking: CaptureParameters = {
  stealth: true,
}

t.test('every parameter of the contract is either served or named as not available', async (t) => {
  const names = Object.keys(captureParameters.properties).toSorted()
  t.same([...Object.keys(available), ...Object.keys(asking)].toSorted(), names)
  t.equal(unavailableIn(available), undefined)
  for (const [name, value] of Object.entries(asking)) {
    t.same(Object.keys(unavailableIn({ [name]: value }) ?? {}), [name], name)
  }
})

t.test('a default, false or an empty value asks for nothing', async (t) => {
  const names = Object.keys(asking) as ParameterName[]
  const defaults = Object.fromEntries(names.map((name) => [name, defaultOf(name)]))
  t.equal(unavailableIn(defaults), undefined)
  t.equal(unavailableIn({ headers: {}, cookies: [], hide_selectors: [], css: '', js: '' }), undefined)
})
