import t from 'tap'
import type { FieldErrors } from '#shared/errors/app-error.ts'
import { parseCapture, type ParsedCapture } from '#gateway/parameters/parse-capture.ts'

const rules = { allow: [], hasStealth: true } as const
const url = 'https://example.com/'

const errorsIn = (input: unknown): FieldErrors => {
  const verdict = parseCapture(input, rules)
  return verdict.ok ? {} : verdict.errors
}

const valid = (input: Record<string, unknown>): ParsedCapture => {
  const verdict = parseCapture({ url, ...input }, rules)
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.errors))
  return verdict
}

// Contract: Validation
t.test('parse capture: sources are bounded, and exactly one is required', async (t) => {
  const alone = (name: string, value: unknown) => errorsIn({ [name]: value })
  t.same(alone('html', 'x'.repeat(500_000)), {})
  t.same(alone('markdown', 'x'.repeat(500_000)), {})
  t.same(alone('html', 'x'.repeat(500_001)), { html: ['must be a string of 1 to 500000 characters without NUL'] })
  t.same(alone('html', 'a\u0000'), { html: ['must be a string of 1 to 500000 characters without NUL'] })
  t.same(alone('html', ''), { html: ['must be a string of 1 to 500000 characters without NUL'] })
  t.same(alone('url', `https://example.com/${'a'.repeat(2028)}`), {})
  t.match(alone('url', `https://example.com/${'a'.repeat(2029)}`)['url'], [/1 to 2048 characters/])
  t.same(errorsIn({}), { url: ['is required unless html or markdown is given'] })
  const only = 'must be the only one of url, html, markdown'
  t.same(errorsIn({ url, html: 'x' }), { url: [only], html: [only] })
  t.same(errorsIn({ url: 'ftp://x', html: 'x', markdown: 'x' }), {
    url: [only, 'must be an absolute http or https address'],
    html: [only],
    markdown: [only],
  })
})

// Contract: Error mapping
t.test('parse capture: rejects private addresses and schemes other than http and https', async (t) => {
  const allowTargetHint = (target: string) => `; the operator can allow it with --allow-target ${target}`
  for (const [bad, target] of [
    ['http://127.0.0.1/', '127.0.0.1:80'],
    ['http://localhost:8080', 'localhost:8080'],
    ['https://10.0.0.1', '10.0.0.1:443'],
    ['http://0x7f.1/', '127.0.0.1:80'],
    ['http://[::1]/', '[::1]:80'],
  ] as const) {
    t.same(errorsIn({ url: bad }), { url: [`must be a public http or https address${allowTargetHint(target)}`] }, bad)
  }
  t.same(errorsIn({ url: 'file:///etc/passwd' }), { url: ['must be an absolute http or https address'] })
  t.same(errorsIn({ url: 'https://example.com:25/' }), { url: ['port 25 is not allowed'] })
  t.same(errorsIn({ url: 'https://exa\nmple.com/' }), {
    url: ['must be a string of 1 to 2048 characters without control characters'],
  })
  t.same(errorsIn({ url, webhook_url: 'http://example.com/hook' }), {
    webhook_url: ['must be an absolute https address'],
  })
  t.same(errorsIn({ url, webhook_url: 'https://192.168.0.1/hook' }), {
    webhook_url: [`must be a public https address${allowTargetHint('192.168.0.1:443')}`],
  })
  t.same(errorsIn({ url, webhook_url: 'https://example.com/hook' }), {})
})

// Contract: Ports
t.test('parse capture: rejects blocked ports in every address of a request, and no other ports', async (t) => {
  const at = (port: number) => ({
    url: `http://example.com:${port}/`,
    proxy: `http://p.example.com:${port}`,
    webhook_url: `https://example.com:${port}/hook`,
  })
  for (const port of [0, 1, 21, 22, 25, 6000, 6667, 10_080]) {
    const problem = [`port ${port} is not allowed`]
    t.same(errorsIn(at(port)), { url: problem, proxy: problem, webhook_url: problem })
    t.same(errorsIn({ url, proxy: `socks5h://p.example.com:${port}` }), { proxy: problem })
    t.same(errorsIn({ url: `https://93.184.216.34:${port}` }), { url: problem })
  }
  for (const port of [80, 443, 81, 1080, 3000, 8080, 10_081, 65_535]) t.same(errorsIn(at(port)), {}, `${port}`)
  const allow = [{ kind: 'name', name: 'example.com', port: undefined }] as const
  const listed = parseCapture({ url: 'http://example.com:22/' }, { allow, hasStealth: true })
  t.same(listed.ok ? {} : listed.errors, { url: ['port 22 is not allowed'] }, 'even if the operator allows it')
})

t.test('parse capture: the allow list permits its private address only', async (t) => {
  const allow = [{ kind: 'name', name: 'localhost', port: 8000 }] as const
  const judge = (address: string) => parseCapture({ url: address }, { allow, hasStealth: true }).ok
  t.equal(judge('http://localhost:8000/'), true)
  t.equal(judge('http://localhost:8001/'), false)
})

// Contract: `proxy`
t.test('parse capture: a proxy has a host and a port and nothing after them', async (t) => {
  const good = [
    'http://p.example.com:3128',
    'socks5://u:p@p.example.com:1080',
    'socks5h://93.184.216.34:1080/',
    'http://p.example.com:80',
  ]
  for (const proxy of good) t.same(errorsIn({ url, proxy }), {}, proxy)
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
  for (const proxy of bad) t.same(Object.keys(errorsIn({ url, proxy })), ['proxy'], proxy)
})

// Contract: Bounds not given
// Contract: Headers that a caller may not set
t.test('parse capture: header names are tokens; connection headers are rejected', async (t) => {
  t.same(errorsIn({ url, headers: { Authorization: 'Basic eA==', Cookie: 'a=b', [`X-${'a'.repeat(98)}`]: '' } }), {})
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
    'Proxy-Connection',
    'Proxy-',
    'Set-Cookie',
    'Cookie2',
  ]) {
    for (const spelled of [name, name.toLowerCase(), name.toUpperCase()]) {
      const field = `headers.${spelled}`
      t.same(errorsIn({ url, headers: { 'X-A': '1', [spelled]: 'x' } }), { [field]: ['must not be set'] }, spelled)
      t.same(errorsIn({ html: 'x', headers: { [spelled]: '' } }), { [field]: ['must not be set'] }, spelled)
    }
  }
  for (const name of ['X-Host', 'Host-X', 'Connections', 'Proxy', 'TE-X', 'Content-Type', 'X-Proxy-A'])
    t.same(errorsIn({ url, headers: { [name]: 'x' } }), {}, name)
  for (const name of ['X-HTTP-Method', 'x-http-method-override', 'X-Method-Override']) {
    for (const value of ['TRACE', 'get, Connect', ' track ']) {
      t.match(errorsIn({ url, headers: { [name]: value } }), { [`headers.${name}`]: [/must not name the method/] })
    }
    t.same(errorsIn({ url, headers: { [name]: 'PUT, TRACER' } }), {}, name)
  }
  t.same(errorsIn({ url, headers: { 'X-A': 'TRACE', 'Set-Cookie2': 'a' } }), {})
  for (const name of ['', 'a b', 'a:b', 'a\nb', 'ä', 'a'.repeat(101)]) {
    const errors = errorsIn({ url, headers: { [name]: 'x' } })
    t.same(
      errors,
      { [`headers.${name}`]: ['the name must be an HTTP token of 1 to 100 characters'] },
      JSON.stringify(name),
    )
  }
  t.match(Object.keys(errorsIn({ url, headers: { 'X-A': 'a\r\nb', 'X-B': 'v'.repeat(4097), 'X-C': 1 } })), [
    'headers.X-A',
    'headers.X-B',
    'headers.X-C',
  ])
  t.same(errorsIn(JSON.parse(`{"url":"${url}","headers":{"__proto__":"x"}}`)), {
    'headers.__proto__': ['must not be set'],
  })
})

// Contract: Bounds not given
// Contract: Parameters that do not apply
t.test(
  'parse capture: faults of cookies have their index; cookies are bounded together and must match the target',
  async (t) => {
    const fault = (cookie: Record<string, unknown>) =>
      errorsIn({ url: 'https://www.example.com/', cookies: [{ name: 'a', value: 'b' }, cookie] })
    t.same(fault({ name: 'a' }), { 'cookies.1.value': ['is required'] })
    t.match(fault({ name: '', value: 'x' }), { 'cookies.1.name': [/1 to 4096/] })
    t.same(fault({ name: 'a', value: 'x', path: '/' }), { 'cookies.1.path': ['is not a parameter'] })
    for (const cookie of [null, 'a=b', 1]) t.ok('cookies.0' in errorsIn({ url, cookies: [cookie] }), String(cookie))
    t.same(fault({ name: 'ab', value: 'x'.repeat(4094) }), {})
    t.match(fault({ name: 'ab', value: 'x'.repeat(4095) }), { 'cookies.1.value': [/4096 characters together/] })
    t.match(fault({ name: 'a b', value: 'x' }), { 'cookies.1.name': [/must not contain/] })
    t.match(fault({ name: 'a', value: 'x;y' }), { 'cookies.1.value': [/must not contain/] })
    for (const domain of ['www.example.com', '.example.com', 'EXAMPLE.com'])
      t.same(fault({ name: 'a', value: 'x', domain }), {}, domain)
    for (const domain of ['other.com', 'ample.com', 'a.www.example.com', '.']) {
      t.same(fault({ name: 'a', value: 'x', domain }), { 'cookies.1.domain': ['must cover the host of url'] }, domain)
    }
    const withoutUrl = errorsIn({
      html: 'x',
      cookies: [
        { name: 'a', value: 'b' },
        { name: 'a', value: 'b', domain: 'x.com' },
      ],
    })
    t.same(withoutUrl, { 'cookies.0.domain': ['is required where there is no url'] })
    t.same(
      Object.keys(errorsIn({ url: 'nonsense', cookies: [{ name: 'a', value: 'b' }] })),
      ['url'],
      'an unreadable url is the only fault',
    )
  },
)

// Contract: Bounds not given
t.test('parse capture: geolocation is bounded field by field', async (t) => {
  t.same(errorsIn({ url, geolocation: { latitude: 90.1, longitude: -180.1, accuracy: -1, altitude: 1 } }), {
    'geolocation.altitude': ['is not a parameter; did you mean latitude?'],
    'geolocation.latitude': ['must be a number from -90 to 90, not 90.1'],
    'geolocation.longitude': ['must be a number from -180 to 180, not -180.1'],
    'geolocation.accuracy': ['must be a number from 0 to 100000, not -1'],
  })
  const beyond = { latitude: -90.1, longitude: 180.1, accuracy: 100_000.1 }
  t.same(
    Object.keys(errorsIn({ url, geolocation: beyond })),
    Object.keys(beyond).map((name) => `geolocation.${name}`),
  )
  t.same(errorsIn({ url, geolocation: { latitude: 1 } }), { 'geolocation.longitude': ['is required'] })
})

// Contract: `omit_background` with another format
t.test('parse capture: a transparent background needs a format that supports it', async (t) => {
  for (const format of ['png', 'webp']) t.same(errorsIn({ url, format, omit_background: true }), {}, format)
  for (const format of ['jpeg', 'avif', 'tiff', 'pdf']) {
    t.same(
      errorsIn({ url, format, omit_background: true }),
      { omit_background: ['is supported only with format png or webp'] },
      format,
    )
    t.same(errorsIn({ url, format, omit_background: false }), {}, `${format} without`)
  }
})

// Contract: Bounds not given
t.test('parse capture: a margin is at most half the page', async (t) => {
  const half = (margin: string) => ({ pdf_margin_top: margin, pdf_margin_bottom: margin })
  const across = (margin: string) => ({ pdf_margin_left: margin, pdf_margin_right: margin })
  t.same(errorsIn({ url, format: 'pdf', ...half('148.5mm'), ...across('105mm') }), {})
  const problem = (side: number, page = 'A4') => [`must be at most half the page (${side}mm of ${page})`]
  t.same(errorsIn({ url, format: 'pdf', ...half('148.6mm'), ...across('105.1mm') }), {
    pdf_margin_top: problem(148.5),
    pdf_margin_bottom: problem(148.5),
    pdf_margin_left: problem(105),
    pdf_margin_right: problem(105),
  })
  t.same(errorsIn({ url, pdf_landscape: true, ...half('4.2in'), ...across('5.84in') }), {
    pdf_margin_top: problem(105),
    pdf_margin_bottom: problem(105),
  })
  for (const [name, width, height] of [
    ['A3', 297, 420],
    ['A5', 148, 210],
    ['Letter', 215.9, 279.4],
    ['Legal', 215.9, 355.6],
    ['Tabloid', 279.4, 431.8],
  ] as const) {
    const of = { url, format: 'pdf', pdf_page_format: name }
    const margins = (more: number) => ({
      ...half(`${(height / 2 + more).toFixed(2)}mm`),
      ...across(`${(width / 2 + more).toFixed(2)}mm`),
    })
    t.same(errorsIn({ ...of, ...margins(-0.01) }), {}, name)
    const [tall, wide] = [problem(height / 2, name), problem(width / 2, name)]
    t.same(
      errorsIn({ ...of, ...margins(0.1) }),
      { pdf_margin_top: tall, pdf_margin_bottom: tall, pdf_margin_left: wide, pdf_margin_right: wide },
      name,
    )
  }
  for (const [within, beyond] of [
    ['561px', '562px'],
    ['5.84in', '5.85in'],
    ['14.85cm', '14.86cm'],
    ['420pt', '421pt'],
    ['35pc', '35.1pc'],
    ['594Q', '595Q'],
    ['35em', '35.1em'],
    ['35rem', '35.1rem'],
  ] as const) {
    t.same(errorsIn({ url, pdf_margin_top: within }), {}, within)
    t.same(errorsIn({ url, pdf_margin_top: beyond }), { pdf_margin_top: problem(148.5) }, beyond)
  }
})

// Contract: Validation
t.test('parse capture: reports all faults at once, unknown names included', async (t) => {
  t.same(errorsIn({ url: 'x', width: 1, fullpage: true, cookies: [{ name: 1 }] }), {
    fullpage: ['is not a parameter; did you mean full_page?'],
    width: ['must be a whole number from 320 to 3840, not 1'],
    'cookies.0.value': ['is required'],
    'cookies.0.name': ['must be a string of 1 to 4096 characters without control characters, not a number'],
    url: ['must be an absolute http or https address'],
  })
})

t.test('parse capture: anything but an object is a fault of the body', async (t) => {
  for (const body of [null, [], 'x', 1, true]) t.same(errorsIn(body), { body: ['must be a JSON object'] })
})

t.test('parse capture: rejects excessive input before its values are validated', async (t) => {
  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, value]))
  t.same(errorsIn({ url, ...many(200, 1) }), { body: ['must have at most 200 parameters'] })
  t.same(errorsIn({ url, cookies: Array.from({ length: 100_000 }, () => 1) }), {
    cookies: ['must be a list of at most 20 entries'],
  })
  t.same(errorsIn({ url, geolocation: many(100_000, 1) }), { geolocation: ['must have at most 200 entries'] })
  const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
  t.same(errorsIn({ url, hide_selectors: deep }), { hide_selectors: ['must have at most 200 entries'] })
  t.same(Object.keys(errorsIn({ url: deep, width: deep, unknown: deep })), ['unknown', 'url', 'width'])
  const hidden = Array.from({ length: 201 }, () => '.a')
  t.same(
    errorsIn({ url, hide_selectors: hidden, width: 1 }),
    {
      hide_selectors: ['must be a list of at most 20 entries'],
      width: ['must be a whole number from 320 to 3840, not 1'],
    },
    'without hiding other faults',
  )
  t.ok(
    Object.keys(errorsIn({ url, ['x'.repeat(100_000)]: 1 })).every((name) => name.length <= 120),
    'long names are truncated',
  )
})

t.test('parse capture: rejects lone surrogates, which the database cannot store', async (t) => {
  t.same(errorsIn({ url, selector: 'a\ud800' }), { selector: ['must be well-formed Unicode'] })
  t.same(errorsIn({ url, hide_selectors: ['\udc00'] }), {
    'hide_selectors.0': ['must be well-formed Unicode'],
  })
  t.same(errorsIn({ url, headers: { 'X-A': '\ud800' } }), { 'headers.X-A': ['must be well-formed Unicode'] })
})

// Contract: Validation
t.test('parse capture: reports the faults of every entry of a list or an object', async (t) => {
  const control = 'must be a string of 0 to 4096 characters without control characters'
  t.same(errorsIn({ url, headers: { Host: 'x', ok: 'b\n', 'a b': 1 } }), {
    'headers.Host': ['must not be set'],
    'headers.ok': [control],
    'headers.a b': [`${control}, not a number`, 'the name must be an HTTP token of 1 to 100 characters'],
  })
  const cookies = [{ name: 'a' }, { name: 'b=', value: 'x', domain: 'other.com' }, 'c', { name: 'd', value: ';' }]
  t.same(Object.keys(errorsIn({ url, cookies })).toSorted(), [
    'cookies.0.value',
    'cookies.1.domain',
    'cookies.1.name',
    'cookies.2',
    'cookies.3.value',
  ])
  t.same(errorsIn({ url, hide_selectors: ['.a', '', 'b >> c', '.d'] }), {
    'hide_selectors.1': ['must be a string of 1 to 500 characters without control characters'],
    'hide_selectors.2': ['must be a CSS selector'],
  })
})

const selectors = 'wait_for_selector wait_for_selector_hidden selector click_selector scroll_to'.split(' ')

// Contract: Missing selectors
t.test('parse capture: reports an invalid CSS selector under its field', async (t) => {
  const problem = ['must be a CSS selector']
  for (const wrong of ['h1 >> text=ok', 'a[b', 'a,,b', '> a', '//div', 'a:has-text("b")', ':is(a]']) {
    for (const name of selectors) t.same(errorsIn({ url, [name]: wrong }), { [name]: problem }, `${name} ${wrong}`)
    t.same(errorsIn({ url, hide_selectors: ['.a', wrong] }), { 'hide_selectors.1': problem }, wrong)
  }
})

t.test('parse capture: adds the faults of the query, and treats their parameters as given', async (t) => {
  const found = { url: ['is given more than once'], width: ['is given more than once'] }
  const verdict = parseCapture({ url: 'x', width: 1, height: 1 }, rules, found)
  t.same(verdict.ok ? {} : verdict.errors, { ...found, height: ['must be a whole number from 200 to 2160, not 1'] })
})

t.test('parse capture: treats names of the prototype as ordinary parameters', async (t) => {
  const input: unknown = JSON.parse(`{"url":"${url}","__proto__":{"width":1},"constructor":1}`)
  const errors = errorsIn(input)
  t.same(Object.keys(errors).toSorted(), ['__proto__', 'constructor'])
})

t.test('parse capture: a valid request keeps what was supplied and gets the defaults', async (t) => {
  const { supplied, options, features } = valid({ full_page: true })
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
})

t.test('parse capture: without full Chromium, rejects stealth and names the settings that enable it', async (t) => {
  const without = { allow: [], hasStealth: false }
  const stealth = [/SHUTTERFLEET_STEALTH_CHROMIUM .*SHUTTERFLEET_SEALING_KEY_STEALTH/]
  t.match(parseCapture({ url, stealth: true }, without), { unavailable: { stealth } })
  for (const verdict of [parseCapture({ url, stealth: false }, without), valid({ stealth: true })])
    t.match(verdict, { ok: true, unavailable: undefined })
})
