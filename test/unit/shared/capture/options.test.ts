import t from 'tap'
import { deviceNames } from '#shared/capture/parameters/devices.ts'
import { captureParameters } from '#shared/capture/options.ts'
import { outputNames } from '#shared/capture/parameters/kinds.ts'
import type { FieldErrors } from '#shared/errors/app-error.ts'
import { parseCapture } from '#gateway/parameters/parse-capture.ts'

const url = 'https://example.com/'

const optionErrors = (input: unknown): FieldErrors => {
  const verdict = parseCapture(input, { allow: [], hasStealth: true })
  return verdict.ok ? {} : verdict.errors
}

const wholeNumber = (from: number, to: number) => ({
  inside: [from, to],
  outside: [from - 1, to + 1, from + 0.5, String(from), null, true, [], {}],
  says: `must be a whole number from ${from} to ${to}`,
})
const flag = { inside: [true, false], outside: ['true', 1, 0, null, [], {}], says: 'must be true or false' }
const enumError = (...words: string[]) => ({
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
  const plain = text(characters, `must be a string of 1 to ${characters} characters without control characters`)
  return { ...plain, outside: [...plain.outside, 'a\nb', '\u0000', '\u007f', 'a\tb', 'a\u0085b', '\u009f'] }
}
const margin = {
  inside: ['0', '0.0', '.0', '.5in', '10mm', '1in', '0.5cm', '20px', '12pt', '1pc', '40Q', '1em', '1.25rem'],
  outside: ['10', '-1mm', '10 mm', '1e1mm', '10vh', '', 'mm', '.mm', '1.mm', '.5', '0.1', 10, null],
  says: 'must be a number from 0 with one of px, in, cm, mm, pt, pc, Q, em, rem, at most half the page',
}

const paper = {
  inside: ['25mm', '1in', '2000mm', '99.5px'],
  outside: ['0', '25', '-25mm', '25 mm', '.5in', '', 25, null],
  says: 'must be a number with one of px, in, cm, mm, pt, pc, Q, em, rem, from 25mm to 2000mm',
}
const number = (from: number, to: number) => ({
  inside: [from, (from + to) / 2, to],
  outside: [from - 0.01, to + 0.01, String(from), null, true, [], {}],
  says: `must be a number from ${from} to ${to}`,
})
const program = text(10_000, 'must be a string of at most 10000 characters without NUL', 0)
const selectors = {
  inside: [[], ['.a'], Array.from({ length: 20 }, () => '.a')],
  outside: ['.a', Array.from({ length: 21 }, () => '.a'), {}, null, 1],
  says: 'must be a list of at most 20 entries',
}

const items = {
  inside: [{}, { a: '' }, { a: 'v'.repeat(4096) }],
  outside: [[], 'a', null, Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`a${index}`, '1']))],
  says: 'must be an object of at most 20 entries',
}

const table: Readonly<Record<string, { inside: unknown[]; outside: unknown[]; says: string }>> = {
  width: wholeNumber(320, 3840),
  height: wholeNumber(200, 2160),
  quality: wholeNumber(1, 100),
  resize_width: wholeNumber(16, 3840),
  resize_height: wholeNumber(16, 2160),
  delay: wholeNumber(0, 10),
  delay_ms: wholeNumber(0, 10_000),
  timeout: wholeNumber(5, 60),
  wait_until: enumError('load', 'network_idle', 'domcontentloaded'),
  on_timeout: enumError('fail', 'capture'),
  wait_for_selector_hidden: line(500),
  wait_for_function: program,
  fail_on_status: flag,
  fail_if_selector_missing: line(500),
  fail_if_selector_present: line(500),
  fail_if_text: line(500),
  full_page_mode: enumError('tall', 'sections'),
  full_page_width: enumError('content', 'viewport'),
  full_page_max_height: wholeNumber(200, 20_000),
  orientation: enumError('portrait', 'landscape'),
  scale: number(1, 4),
  resize_mode: { ...enumError('fit', 'cover', 'contain'), inside: ['fit'] },
  resize_position: enumError('center', 'top', 'bottom', 'left', 'right'),
  clip: {
    inside: [{ x: 0, y: 20_000, width: 1, height: 20_000 }],
    outside: ['1,2', [1, 2], null],
    says: 'must be an object',
  },
  animations: enumError('finish', 'allow'),
  media_type: enumError('screen', 'print'),
  locale: { inside: ['de', 'fr-CA'], outside: ['fr_CA', 'x'], says: 'must be a BCP 47 language tag such as fr-CA' },
  block_requests: { ...selectors, inside: [[], ['*/a.js']] },
  block_resources: {
    inside: [[], ['image', 'media', 'font', 'stylesheet', 'script']],
    outside: ['image', {}, null],
    says: 'must be a list of at most 5 entries',
  },
  pdf_width: paper,
  pdf_height: paper,
  pdf_scale: number(0.1, 2),
  pdf_background: flag,
  pdf_page_ranges: {
    inside: ['1', '1-3,5', '9999'],
    outside: ['0', '1-', '1, 2', '', 1, null],
    says: 'must be page numbers and ranges such as 1-3,5',
  },
  pdf_header: program,
  pdf_footer: program,
  pdf_outline: flag,
  cache_ttl: wholeNumber(0, 86_400),
  retina: flag,
  omit_background: flag,
  pdf_landscape: flag,
  full_page: flag,
  block_cookies: flag,
  block_ads: flag,
  block_chats: flag,
  block_trackers: flag,
  pdf_single_page: flag,
  pdf_css_page_size: flag,
  block_popups: flag,
  dark_mode: flag,
  reduced_motion: flag,
  stealth: flag,
  extract_metadata: flag,
  format: enumError('png', 'jpeg', 'webp', 'avif', 'tiff', 'pdf'),
  device: enumError(...deviceNames),
  pdf_page_format: enumError('A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid'),
  pdf_fit: enumError('width', 'none'),
  response_type: enumError('json', 'image'),
  wait_for_selector: line(500),
  selector: line(500),
  click_selector: line(500),
  scroll_to: line(500),
  user_agent: line(500),
  css: program,
  js: program,
  pdf_margin_top: margin,
  pdf_margin_right: margin,
  pdf_margin_bottom: margin,
  pdf_margin_left: margin,
  hide_selectors: selectors,
  actions: {
    inside: [[], [{ type: 'click', selector: 'a' }], Array.from({ length: 20 }, () => ({ type: 'press', key: 'Tab' }))],
    outside: [{}, 'click', null, Array.from({ length: 21 }, () => ({ type: 'press', key: 'Tab' }))],
    says: 'must be a list of at most 20 entries',
  },
  outputs: {
    inside: [[], ['html'], [...outputNames]],
    outside: ['html', null, {}],
    says: 'must be a list of at most 8 entries',
  },
  renditions: {
    inside: [
      [],
      [{ format: 'webp' }],
      Array.from({ length: 5 }, () => ({ format: 'png', quality: 1, resize_width: 16 })),
    ],
    outside: [{}, null, Array.from({ length: 6 }, () => ({ format: 'png' }))],
    says: 'must be a list of at most 5 entries',
  },
  local_storage: items,
  session_storage: items,
  upload_to: line(64),
  filename: {
    inside: ['a', 'a'.repeat(100), 'Rechnung für Größe.pdf'],
    outside: ['', 'a'.repeat(101), 'a/b', 'a"b', 'a\\b', 'a\nb', '..:', null, 1],
    says: 'must be a name of 1 to 100 characters without control characters and " \\ / : * ? < > |',
  },
  headers: {
    inside: [{}, { 'X-A': '1' }, { 'X-A': 'v'.repeat(4096) }],
    outside: [[], 'X-A: 1', null, Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`X-${index}`, '1']))],
    says: 'must be an object of at most 20 entries',
  },
  header_origins: {
    inside: [[], Array.from({ length: 10 }, (_, index) => `https://${index}.example.com`)],
    outside: [{}, null, Array.from({ length: 11 }, (_, index) => `https://${index}.example.com`)],
    says: 'must be a list of at most 10 entries',
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

// Contract: Bounds not given
t.test(
  'options: every parameter is accepted at its bounds and rejected just beyond, with the bound in the message',
  async (t) => {
    for (const [name, { inside, outside, says }] of Object.entries(table)) {
      for (const value of inside)
        t.same(optionErrors({ url, format: 'png', [name]: value }), {}, `${name} ${JSON.stringify(value).slice(0, 40)}`)
      for (const value of outside) {
        const what = `no ${name} ${JSON.stringify(value).slice(0, 40)}`
        const errors = optionErrors({ url, [name]: value })
        t.strictSame(Object.keys(errors), [name], what)
        t.match(errors, { [name]: [says] }, what)
      }
    }
  },
)

/** Tested separately: addresses, sources, and a template that needs a destination. */
const elsewhere = ['url', 'html', 'markdown', 'proxy', 'webhook_url', 'upload_key']

t.test('options: the table covers every parameter', async (t) => {
  t.same([...Object.keys(table), ...elsewhere].toSorted(), Object.keys(captureParameters.properties).toSorted())
})

// Contract: Bounds not given
t.test('options: each entry of a list or an object has its own bounds', async (t) => {
  const says = (from: number, to: number) =>
    `must be a string of ${from} to ${to} characters without control characters`
  for (const [entry, field, inside, outside, problem] of [
    [(value: string) => ({ hide_selectors: ['.a', value] }), 'hide_selectors.1', 500, 501, says(1, 500)],
    [(value: string) => ({ headers: { 'X-A': value } }), 'headers.X-A', 4096, 4097, says(0, 4096)],
    [(value: string) => ({ cookies: [{ name: 'a', value }] }), 'cookies.0.value', 4095, 4097, says(0, 4096)],
    [(value: string) => ({ cookies: [{ name: value, value: '' }] }), 'cookies.0.name', 4096, 4097, says(1, 4096)],
  ] as const) {
    t.same(optionErrors({ url, ...entry('a'.repeat(inside)) }), {}, field)
    t.same(optionErrors({ url, ...entry('a'.repeat(outside)) }), { [field]: [problem] }, field)
  }
})

// Contract: Bounds not given
t.test('options: rejects control characters in every single-line text', async (t) => {
  const places: Readonly<Record<string, (part: string) => object>> = {
    url: (part) => ({ url: url + part }),
    webhook_url: (part) => ({ webhook_url: url + part }),
    proxy: (part) => ({ proxy: `http://p${part}.example.com:3128` }),
    user_agent: (part) => ({ user_agent: `a${part}` }),
    timezone: (part) => ({ timezone: `UTC${part}` }),
    selector: (part) => ({ selector: `a${part}` }),
    'hide_selectors.0': (part) => ({ hide_selectors: [`a${part}`] }),
    pdf_margin_top: (part) => ({ pdf_margin_top: `1mm${part}` }),
    'headers.X-A': (part) => ({ headers: { 'X-A': `a${part}` } }),
    'cookies.0.name': (part) => ({ cookies: [{ name: `a${part}`, value: '' }] }),
    'cookies.0.value': (part) => ({ cookies: [{ name: 'a', value: `a${part}` }] }),
    'cookies.0.domain': (part) => ({ cookies: [{ name: 'a', value: '', domain: `example.com${part}` }] }),
  }
  const codes = [...Array(32).keys(), ...Array.from({ length: 33 }, (_, index) => 0x7f + index)]
  for (const [field, place] of Object.entries(places)) {
    t.same(optionErrors({ url, ...place('') }), {}, field)
    const taken = codes.filter((code) => !(field in optionErrors({ url, ...place(String.fromCodePoint(code)) })))
    t.same(taken, [], field)
  }
  for (const name of ['html', 'markdown', 'css', 'js']) {
    const source = /^(css|js)$/.test(name) ? { url } : {}
    t.same(optionErrors({ ...source, [name]: 'a\n\tb' }), {}, `${name} may contain line breaks`)
    t.same(Object.keys(optionErrors({ ...source, [name]: 'a\u0000' })), [name])
  }
})
