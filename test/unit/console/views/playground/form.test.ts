import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  type Control,
  entriesOf,
  parametersOf,
  queryOf,
  requestOf,
  withoutDefaults,
} from '#console/views/playground/form.ts'
import { captureParameters } from '#shared/capture/options.ts'

const file = join(import.meta.dirname, '../../../../../services/console/views/playground/controls.json')
const controls = JSON.parse(readFileSync(file, 'utf8')) as Control[]

/** A request with a parameter of every kind. */
const request = {
  url: 'https://example.com/?a=1&b=<c>',
  width: 1024,
  scale: 1.5,
  format: 'webp',
  full_page: true,
  block_cookies: false,
  hide_selectors: ['.ad', '#banner > p'],
  outputs: ['markdown', 'links'],
  clip: { x: 0, y: 10, width: 200, height: 100 },
  css: 'body { color: red }\np {}',
}

t.test('form: has a control for every parameter but the kind of response', async (t) => {
  const names = Object.keys(captureParameters.properties).filter((name) => name !== 'response_type')
  t.same(controls.map(({ name }) => name).toSorted(), names.toSorted())
})

t.test('form: a request that fills it is the one that it sends', async (t) => {
  t.same(requestOf(controls, entriesOf(controls, request)), { parameters: request, errors: {} })
})

t.test('form: what is not entered, or is the default of a switch, is not sent', async (t) => {
  const entries = {
    url: 'https://example.com',
    width: ' ',
    full_page: false,
    block_cookies: true,
    outputs: [],
    format: '',
  }
  t.same(requestOf(controls, entries), { parameters: { url: 'https://example.com' }, errors: {} })
})

t.test('form: what is no JSON and no number is an error of its control', async (t) => {
  const entries = { clip: '{"x": 1', width: 'wide', cookies: '[]' }
  t.same(requestOf(controls, entries), { parameters: { cookies: [] }, errors: { clip: 'badJson', width: 'badNumber' } })
})

t.test('form: a link to it restores the request', async (t) => {
  const restored = requestOf(controls, entriesOf(controls, parametersOf(controls, `?${queryOf(request)}`)))
  t.same(restored, { parameters: request, errors: {} })
})

t.test('form: a link has no secrets and no content of pages', async (t) => {
  const secret = 'hunter2'
  const query = queryOf({
    url: `https://user:${secret}@example.com/`,
    html: secret,
    markdown: secret,
    js: secret,
    headers: { Authorization: secret },
    cookies: [{ name: 'session', value: secret }],
    local_storage: { token: secret },
    session_storage: { token: secret },
    proxy: `http://user:${secret}@proxy.example:8080`,
    actions: [{ type: 'type', selector: '#password', text: secret }],
    webhook_url: `https://example.com/${secret}`,
    width: 800,
  })
  t.equal(query, 'url=https%3A%2F%2Fexample.com%2F&width=800')
})

t.test('form: a broken or foreign link fills what it can', async (t) => {
  const entries = entriesOf(controls, parametersOf(controls, '?clip=%7Bbroken&width=700&unknown=1'))
  t.same(entries, { width: '700' })
})

t.test('form: a host is sent with https before it, an address as it is', (t) => {
  const urlOf = (url: string) => requestOf(controls, { url }).parameters['url']
  t.equal(urlOf(' example.com '), 'https://example.com')
  t.equal(urlOf('shop.example.com:8443/cart?x=1'), 'https://shop.example.com:8443/cart?x=1')
  for (const url of ['http://example.com', 'https://example.com/', 'ftp://example.com', 'example', 'https:'])
    t.equal(urlOf(url), url)
  t.end()
})

t.test('form: a capture is repeated as it was asked for, without what its record fills in', (t) => {
  const record = {
    url: 'https://example.com/',
    width: 1280,
    height: 900,
    format: 'png',
    quality: 80,
    device: 'desktop',
  }
  t.same(withoutDefaults(controls, { ...record, full_page: 'false' }), {
    url: 'https://example.com/',
    height: 900,
  })
  const phone = { device: 'mobile', width: 1280 }
  t.same(withoutDefaults(controls, phone), phone, 'without its width it would be that of the device')
  t.end()
})
