import t from 'tap'
import type { FieldFaults } from '#shared/errors/app-error.ts'
import { parseCapture, type ParsedCapture } from '#shared/capture/parse-capture.ts'

const rules = { allow: [] } as const
const url = 'https://example.com/'

const faultsOf = (input: unknown): FieldFaults => {
  const verdict = parseCapture(input, rules)
  return verdict.ok ? {} : verdict.faults
}

const valid = (input: Record<string, unknown>): ParsedCapture => {
  const verdict = parseCapture({ url, ...input }, rules)
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.faults))
  return verdict
}

const wholeNumber = (from: number, to: number) => ({
  inside: [from, to],
  outside: [from - 1, to + 1, from + 0.5, String(from), null, true, [], {}],
  says: `must be a whole number from ${from} to ${to}`,
})
const flag = { inside: [true, false], outside: ['true', 1, 0, null, [], {}], says: 'must be true or false' }
const oneOf = (...words: string[]) => ({
  inside: words,
  outside: [
    '',
    words[0]?.toUpperCase() === words[0] ? words[0]?.toLowerCase() : words[0]?.toUpperCase(),
    'gif',
    null,
    1,
  ],
  says: `must be one of ${words.join(', ')}`,
})
const text = (characters: number, says: string, from = 1) => ({
  inside: ['a'.repeat(Math.max(1, from)), 'a'.repeat(characters), '😀'.repeat(characters)],
  outside: ['a'.repeat(characters + 1), ...(from > 0 ? [''] : []), 1, true, null, [], {}],
  says,
})
const line = (characters: number) => {
  const plain = text(characters, `must be a text of 1 to ${characters} characters without control characters`)
  return { ...plain, outside: [...plain.outside, 'a\nb', '\u0000', '\u007f', 'a\tb', 'a\u0085b', '\u009f'] }
}
const margin = {
  inside: ['0', '0.0', '.0', '.5in', '10mm', '1in', '0.5cm', '20px', '12pt', '1pc', '40Q', '1em', '1.25rem'],
  outside: ['10', '-1mm', '10 mm', '1e1mm', '10vh', '', 'mm', '.mm', '1.mm', '.5', '0.1', 10, null],
  says: 'must be a number from 0 with one of px, in, cm, mm, pt, pc, Q, em, rem, at most half the page',
}

const table: Readonly<Record<string, { inside: unknown[]; outside: unknown[]; says: string }>> = {
  width: wholeNumber(320, 3840),
  height: wholeNumber(200, 2160),
  quality: wholeNumber(1, 100),
  resize_width: wholeNumber(16, 3840),
  resize_height: wholeNumber(16, 2160),
  delay: wholeNumber(0, 10),
  timeout: wholeNumber(5, 60),
  cache_ttl: wholeNumber(0, 86_400),
  retina: flag,
  omit_background: flag,
  pdf_landscape: flag,
  full_page: flag,
  block_cookies: flag,
  block_ads: flag,
  block_chats: flag,
  dark_mode: flag,
  reduced_motion: flag,
  stealth: flag,
  extract_metadata: flag,
  format: oneOf('png', 'jpeg', 'webp', 'avif', 'tiff', 'pdf'),
  device: oneOf('desktop', 'mobile', 'tablet'),
  pdf_page_format: oneOf('A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid'),
  response_type: oneOf('json', 'image'),
  wait_for_selector: line(500),
  selector: line(500),
  click_selector: line(500),
  scroll_to: line(500),
  user_agent: line(500),
  css: text(10_000, 'must be a text of at most 10000 characters without NUL', 0),
  js: text(10_000, 'must be a text of at most 10000 characters without NUL', 0),
  pdf_margin_top: margin,
  pdf_margin_right: margin,
  pdf_margin_bottom: margin,
  pdf_margin_left: margin,
  hide_selectors: {
    inside: [[], ['.a'], Array.from({ length: 20 }, () => '.a')],
    outside: ['.a', Array.from({ length: 21 }, () => '.a'), {}, null, 1],
    says: 'must be a list of at most 20 entries',
  },
  headers: {
    inside: [{}, { 'X-A': '1' }, { 'X-A': 'v'.repeat(4096) }],
    outside: [[], 'X-A: 1', null, Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`X-${index}`, '1']))],
    says: 'must be an object of at most 20 entries',
  },
  cookies: {
    inside: [[], [{ name: 'a', value: '' }], [{ name: 'a', value: 'b', domain: '.example.com' }]],
    outside: [{}, 'a=b', null, Array.from({ length: 21 }, () => ({ name: 'a', value: 'b' }))],
    says: 'must be a list of at most 20 entries',
  },
  geolocation: {
    inside: [
      { latitude: -90, longitude: 180, accuracy: 0 },
      { latitude: 90, longitude: -180, accuracy: 100_000 },
      { latitude: 1.5, longitude: 2 },
    ],
    outside: ['1,2', [1, 2], null],
    says: 'must be an object',
  },
  timezone: {
    inside: ['Europe/Berlin', 'UTC', 'Asia/Calcutta'],
    outside: ['Mars/Base', '+01:00', 'Europe'],
    says: 'must be an IANA time zone such as Europe/Paris',
  },
}

for (const [name, { inside, outside, says }] of Object.entries(table)) {
  t.test(`${name} is taken at its bounds and refused just beyond, with the bound in the message`, async (t) => {
    for (const value of inside)
      t.same(faultsOf({ url, format: 'png', [name]: value }), {}, `${JSON.stringify(value).slice(0, 40)} is taken`)
    for (const value of outside) {
      t.same(faultsOf({ url, [name]: value }), { [name]: [says] }, `${JSON.stringify(value).slice(0, 40)} is refused`)
    }
  })
}

t.test('sources are bounded, and exactly one is required', async (t) => {
  const alone = (name: string, value: unknown) => faultsOf({ [name]: value })
  t.same(alone('html', 'x'.repeat(500_000)), {})
  t.same(alone('markdown', 'x'.repeat(500_000)), {})
  t.same(alone('html', 'x'.repeat(500_001)), { html: ['must be a text of 1 to 500000 characters without NUL'] })
  t.same(alone('html', 'a\u0000'), { html: ['must be a text of 1 to 500000 characters without NUL'] })
  t.same(alone('html', ''), { html: ['must be a text of 1 to 500000 characters without NUL'] })
  t.same(alone('url', `https://example.com/${'a'.repeat(2028)}`), {})
  t.match(alone('url', `https://example.com/${'a'.repeat(2029)}`)['url'], [/1 to 2048 characters/])
  t.same(faultsOf({}), { url: ['is required; or give html or markdown'] })
  const only = 'must be the only one of url, html, markdown'
  t.same(faultsOf({ url, html: 'x' }), { url: [only], html: [only] })
  t.same(faultsOf({ url: 'ftp://x', html: 'x', markdown: 'x' }), {
    url: [only, 'must be an absolute http or https address'],
    html: [only],
    markdown: [only],
  })
})

// Contract: Error mapping
t.test('addresses that are visibly private or no web addresses are refused', async (t) => {
  const publicOnly = 'must be a public http or https address'
  for (const bad of [
    'http://127.0.0.1/',
    'http://localhost:8080',
    'http://10.0.0.1',
    'http://0x7f.1/',
    'http://[::1]/',
  ]) {
    t.same(faultsOf({ url: bad }), { url: [publicOnly] }, bad)
  }
  t.same(faultsOf({ url: 'file:///etc/passwd' }), { url: ['must be an absolute http or https address'] })
  t.same(faultsOf({ url: 'https://example.com:25/' }), { url: ['port 25 is not allowed'] })
  t.same(faultsOf({ url: 'https://exa\nmple.com/' }), {
    url: ['must be a text of 1 to 2048 characters without control characters'],
  })
  t.same(faultsOf({ url, webhook_url: 'http://example.com/hook' }), {
    webhook_url: ['must be an absolute https address'],
  })
  t.same(faultsOf({ url, webhook_url: 'https://192.168.0.1/hook' }), {
    webhook_url: ['must be a public https address'],
  })
  t.same(faultsOf({ url, webhook_url: 'https://example.com/hook' }), {})
})

t.test('the allow list lets a private address through, and only that one', async (t) => {
  const allow = [{ kind: 'name', name: 'localhost', port: 8000 }] as const
  const judge = (address: string) => parseCapture({ url: address }, { allow }).ok
  t.equal(judge('http://localhost:8000/'), true)
  t.equal(judge('http://localhost:8001/'), false)
})

t.test('a proxy has a host and a port and nothing after them', async (t) => {
  const good = [
    'http://p.example.com:3128',
    'socks5://u:p@p.example.com:1080',
    'socks5h://93.184.216.34:1080/',
    'http://p.example.com:80',
  ]
  for (const proxy of good) t.same(faultsOf({ url, proxy }), {}, proxy)
  const bad = [
    'https://p.example.com:3128',
    'http://p.example.com',
    'http://p.example.com:3128/path',
    'http://p.example.com:3128?x=1',
    'socks5://127.0.0.1:1080',
    'socks4://p.example.com:1',
    'http://%ff:x@p.example.com:3128',
    'p.example.com:3128',
  ]
  for (const proxy of bad) t.same(Object.keys(faultsOf({ url, proxy })), ['proxy'], proxy)
})

t.test('header names are tokens, and those of the connection are refused', async (t) => {
  t.same(faultsOf({ url, headers: { Authorization: 'Basic eA==', Cookie: 'a=b', [`X-${'a'.repeat(98)}`]: '' } }), {})
  for (const name of [
    'Host',
    'connection',
    'Content-Length',
    'Transfer-Encoding',
    'upgrade',
    'TE',
    'Trailer',
    'Keep-Alive',
    'Proxy-Authorization',
  ]) {
    t.same(faultsOf({ url, headers: { [name]: 'x' } }), { [`headers.${name}`]: ['must not be set'] }, name)
  }
  for (const name of ['', 'a b', 'a:b', 'a\nb', 'ä', 'a'.repeat(101)]) {
    const faults = faultsOf({ url, headers: { [name]: 'x' } })
    t.same(
      faults,
      { [`headers.${name}`]: ['the name must be an HTTP token of 1 to 100 characters'] },
      JSON.stringify(name),
    )
  }
  t.match(Object.keys(faultsOf({ url, headers: { 'X-A': 'a\r\nb', 'X-B': 'v'.repeat(4097), 'X-C': 1 } })), [
    'headers.X-A',
    'headers.X-B',
    'headers.X-C',
  ])
  t.same(faultsOf(JSON.parse(`{"url":"${url}","headers":{"__proto__":"x"}}`)), {
    'headers.__proto__': ['must not be set'],
  })
})

// Contract: Parameters that do not apply
t.test('cookies are named by their place, bounded together, and must reach the target', async (t) => {
  const fault = (cookie: Record<string, unknown>) =>
    faultsOf({ url: 'https://www.example.com/', cookies: [{ name: 'a', value: 'b' }, cookie] })
  t.same(fault({ name: 'a' }), { 'cookies.1.value': ['is required'] })
  t.match(fault({ name: '', value: 'x' }), { 'cookies.1.name': [/1 to 4096/] })
  t.same(fault({ name: 'a', value: 'x', path: '/' }), { 'cookies.1.path': ['is not a parameter'] })
  t.same(fault({ name: 'ab', value: 'x'.repeat(4094) }), {})
  t.match(fault({ name: 'ab', value: 'x'.repeat(4095) }), { 'cookies.1.value': [/4096 characters together/] })
  t.match(fault({ name: 'a b', value: 'x' }), { 'cookies.1.name': [/must not contain/] })
  t.match(fault({ name: 'a', value: 'x;y' }), { 'cookies.1.value': [/must not contain/] })
  for (const domain of ['www.example.com', '.example.com', 'EXAMPLE.com', 'com'])
    t.same(fault({ name: 'a', value: 'x', domain }), {}, domain)
  for (const domain of ['other.com', 'ample.com', 'a.www.example.com', '.']) {
    t.same(fault({ name: 'a', value: 'x', domain }), { 'cookies.1.domain': ['must cover the host of url'] }, domain)
  }
  const withoutUrl = faultsOf({
    html: 'x',
    cookies: [
      { name: 'a', value: 'b' },
      { name: 'a', value: 'b', domain: 'x.com' },
    ],
  })
  t.same(withoutUrl, { 'cookies.0.domain': ['is required where there is no url'] })
  t.same(
    Object.keys(faultsOf({ url: 'nonsense', cookies: [{ name: 'a', value: 'b' }] })),
    ['url'],
    'an unreadable url is the only fault',
  )
})

t.test('geolocation is bounded field by field', async (t) => {
  t.same(faultsOf({ url, geolocation: { latitude: 90.1, longitude: -180.1, accuracy: -1, altitude: 1 } }), {
    'geolocation.altitude': ['is not a parameter'],
    'geolocation.latitude': ['must be a number from -90 to 90'],
    'geolocation.longitude': ['must be a number from -180 to 180'],
    'geolocation.accuracy': ['must be a number from 0 to 100000'],
  })
  t.same(faultsOf({ url, geolocation: { latitude: 1 } }), { 'geolocation.longitude': ['is required'] })
})

// Contract: `omit_background` with another format
t.test('a transparent background needs a format that has one', async (t) => {
  for (const format of ['png', 'webp']) t.same(faultsOf({ url, format, omit_background: true }), {}, format)
  for (const format of ['jpeg', 'avif', 'tiff', 'pdf']) {
    t.same(
      faultsOf({ url, format, omit_background: true }),
      { omit_background: ['works with the formats png and webp only'] },
      format,
    )
    t.same(faultsOf({ url, format, omit_background: false }), {}, `${format} without`)
  }
})

t.test('a margin takes at most half the page', async (t) => {
  t.same(faultsOf({ url, format: 'pdf', pdf_margin_top: '148.5mm', pdf_margin_left: '105mm' }), {})
  t.same(faultsOf({ url, format: 'pdf', pdf_margin_top: '148.6mm' }), {
    pdf_margin_top: ['must be at most half the page (148.5mm of A4)'],
  })
  t.match(Object.keys(faultsOf({ url, pdf_landscape: true, pdf_margin_top: '4.2in', pdf_margin_right: '4.2in' })), [
    'pdf_margin_top',
  ])
})

t.test('all faults are told at once, unknown names among them', async (t) => {
  t.same(faultsOf({ url: 'x', width: 1, fullpage: true, cookies: [{ name: 1 }] }), {
    fullpage: ['is not a parameter'],
    width: ['must be a whole number from 320 to 3840'],
    'cookies.0.value': ['is required'],
    'cookies.0.name': ['must be a text of 1 to 4096 characters without control characters'],
    url: ['must be an absolute http or https address'],
  })
})

t.test('what is no object is a fault of the body', async (t) => {
  for (const body of [null, [], 'x', 1, true]) t.same(faultsOf(body), { body: ['must be a JSON object'] })
})

t.test('input out of all proportion is refused before it is looked at', async (t) => {
  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, value]))
  t.same(faultsOf({ url, ...many(200, 1) }), { body: ['must have at most 200 parameters'] })
  t.same(faultsOf({ url, cookies: Array.from({ length: 100_000 }, () => 1) }), {
    cookies: ['must be a list of at most 20 entries'],
  })
  t.same(faultsOf({ url, geolocation: many(100_000, 1) }), { geolocation: ['must have at most 200 entries'] })
  const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
  t.same(faultsOf({ url, hide_selectors: deep }), { hide_selectors: ['must have at most 200 entries'] })
  t.same(Object.keys(faultsOf({ url: deep, width: deep, unknown: deep })), ['unknown', 'url', 'width'])
  const hidden = Array.from({ length: 201 }, () => '.a')
  t.same(
    faultsOf({ url, hide_selectors: hidden, width: 1 }),
    {
      hide_selectors: ['must be a list of at most 20 entries'],
      width: ['must be a whole number from 320 to 3840'],
    },
    'and hides no other fault',
  )
  t.ok(
    Object.keys(faultsOf({ url, ['x'.repeat(100_000)]: 1 })).every((name) => name.length <= 120),
    'long names are cut',
  )
})

t.test('half characters are refused: the database could not keep them', async (t) => {
  t.same(faultsOf({ url, selector: 'a\ud800' }), { selector: ['must be well-formed Unicode'] })
  t.same(faultsOf({ url, hide_selectors: ['\udc00'] }), {
    'hide_selectors.0': ['must be well-formed Unicode'],
  })
  t.same(faultsOf({ url, headers: { 'X-A': '\ud800' } }), { 'headers.X-A': ['must be well-formed Unicode'] })
})

t.test('a fault in one entry of a list or an object hides none in another', async (t) => {
  const control = 'must be a text of 0 to 4096 characters without control characters'
  t.same(faultsOf({ url, headers: { Host: 'x', ok: 'b\n', 'a b': 1 } }), {
    'headers.Host': ['must not be set'],
    'headers.ok': [control],
    'headers.a b': [control, 'the name must be an HTTP token of 1 to 100 characters'],
  })
  const cookies = [{ name: 'a' }, { name: 'b=', value: 'x', domain: 'other.com' }, 'c', { name: 'd', value: ';' }]
  t.same(Object.keys(faultsOf({ url, cookies })).toSorted(), [
    'cookies.0.value',
    'cookies.1.domain',
    'cookies.1.name',
    'cookies.2',
    'cookies.3.value',
  ])
  t.same(faultsOf({ url, hide_selectors: ['.a', '', 'b >> c', '.d'] }), {
    'hide_selectors.1': ['must be a text of 1 to 500 characters without control characters'],
    'hide_selectors.2': ['must be a CSS selector'],
  })
})

t.test('what is no CSS selector is refused on its field', async (t) => {
  for (const name of ['wait_for_selector', 'selector', 'click_selector', 'scroll_to']) {
    t.same(faultsOf({ url, [name]: 'h1 >> text=ok' }), { [name]: ['must be a CSS selector'] })
  }
})

t.test('faults that were found while reading stand beside all others, and their parameters are given', async (t) => {
  const found = { url: ['is given more than once'], width: ['is given more than once'] }
  const verdict = parseCapture({ url: 'x', width: 1, height: 1 }, rules, found)
  t.same(verdict.ok ? {} : verdict.faults, { ...found, height: ['must be a whole number from 200 to 2160'] })
})

t.test('names of the prototype are parameters like any other', async (t) => {
  const input: unknown = JSON.parse(`{"url":"${url}","__proto__":{"width":1},"constructor":1}`)
  const faults = faultsOf(input)
  t.same(Object.keys(faults).toSorted(), ['__proto__', 'constructor'])
})

t.test('a valid request keeps what was supplied and fills in the defaults', async (t) => {
  const { supplied, options, features, unavailable } = valid({ full_page: true })
  t.same(supplied, { url, full_page: true })
  t.match(options, {
    url,
    full_page: true,
    width: 1280,
    height: 800,
    format: 'png',
    quality: 80,
    delay: 0,
    timeout: 30,
    block_cookies: true,
  })
  t.same(features, [])
  t.equal(unavailable, undefined)
})
