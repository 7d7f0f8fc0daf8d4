import * as fc from 'fast-check'
import t from 'tap'
import { fromQuery } from '#shared/capture/from-query.ts'
import { encodedParameters } from '#test/helpers/query-encodings.ts'

const faultsIn = (query: string) => fromQuery(query).errors

const read = (query: string): Record<string, unknown> => {
  const result = fromQuery(query)
  if (!result.ok || Object.keys(result.errors).length > 0) throw new Error(JSON.stringify(result.errors))
  return result.input
}

const cases: readonly [query: string, input: Record<string, unknown>][] = [
  ['', {}],
  ['url=https%3A%2F%2Fa.com%2F%3Fb%3D1%26c%3D2', { url: 'https://a.com/?b=1&c=2' }],
  ['url=a+b', { url: 'a b' }],
  ['width=1024&delay=-1', { width: 1024, delay: -1 }],
  ['width=1e3&height=0x10&quality=8.5&delay=', { width: '1e3', height: '0x10', quality: '8.5', delay: '' }],
  ['width=%201', { width: ' 1' }],
  ['width=%2B1&height=1_0&quality=1n&delay=Infinity', { width: '+1', height: '1_0', quality: '1n', delay: 'Infinity' }],
  [
    'geolocation[latitude]=.5&geolocation[longitude]=1e2&geolocation[accuracy]=0x1',
    { geolocation: { latitude: '.5', longitude: '1e2', accuracy: '0x1' } },
  ],
  ['width[]=1', { width: ['1'] }],
  ['url=https://a.com/?b[]=1', { url: 'https://a.com/?b[]=1' }],
  ['&width=1&&height=2&', { width: 1, height: 2 }],
  [
    'full_page=true&retina=1&stealth=false&dark_mode=0',
    { full_page: true, retina: true, stealth: false, dark_mode: false },
  ],
  ['full_page=on&retina=2&stealth=01', { full_page: 'on', retina: '2', stealth: '01' }],
  ['full_page=TRUE&retina=yes&stealth', { full_page: 'TRUE', retina: 'yes', stealth: '' }],
  ['hide_selectors=.a', { hide_selectors: ['.a'] }],
  ['hide_selectors=.a,.b', { hide_selectors: ['.a', '.b'] }],
  ['hide_selectors=.a&hide_selectors=.b,.c', { hide_selectors: ['.a', '.b,.c'] }],
  ['hide_selectors[]=.a&hide_selectors[]=.b', { hide_selectors: ['.a', '.b'] }],
  ['hide_selectors%5B%5D=.a', { hide_selectors: ['.a'] }],
  ['hide_selectors=%5B%22.a%22%2C%22.b%22%5D', { hide_selectors: ['.a', '.b'] }],
  ['hide_selectors=%5Bdata-x%5D,.b', { hide_selectors: ['[data-x]', '.b'] }],
  ['hide_selectors=:is(.a,.b),.c', { hide_selectors: [':is(.a,.b)', '.c'] }],
  ['headers[X-A]=1&headers[X-B]=two', { headers: { 'X-A': '1', 'X-B': 'two' } }],
  ['headers=%7B%22X-A%22%3A%221%22%7D', { headers: { 'X-A': '1' } }],
  ['headers=X-A:1', { headers: 'X-A:1' }],
  ['headers=%7Bbroken', { headers: '{broken' }],
  ['geolocation[latitude]=1.5&geolocation[longitude]=-2', { geolocation: { latitude: 1.5, longitude: -2 } }],
  ['geolocation=%7B%22latitude%22%3A%221%22%7D', { geolocation: { latitude: '1' } }],
  [
    'cookies[0][name]=a&cookies[0][value]=1&cookies[1][name]=b',
    { cookies: [{ name: 'a', value: '1' }, { name: 'b' }] },
  ],
  ['cookies=%5B%7B%22name%22%3A%22a%22%2C%22value%22%3A%22b%22%7D%5D', { cookies: [{ name: 'a', value: 'b' }] }],
  ['unknown=1&constructor=2&hasOwnProperty=3', { unknown: '1', constructor: '2', hasOwnProperty: '3' }],
  ['hide_selectors=a),b', { hide_selectors: ['a)', 'b'] }],
  ['hide_selectors=a(b,c', { hide_selectors: ['a(b,c'] }],
  ['hide_selectors=a,', { hide_selectors: ['a', ''] }],
  ['url=__proto__', { url: '__proto__' }],
]

// Contract: GET parameters
t.test('from query: reads each documented spelling of lists, objects, flags and numbers, and no other', async (t) => {
  for (const [query, input] of cases)
    t.equal(JSON.stringify(read(query)), JSON.stringify(input), query || 'an empty query')
})

t.test('from query: rejects __proto__, which the parser would drop, and reports other faults too', async (t) => {
  for (const [query, field] of [
    ['__proto__=1', '__proto__'],
    ['__proto__[width]=1', '__proto__.width'],
    ['headers[__proto__]=1', 'headers.__proto__'],
    ['%5F_proto__[a]=1', '__proto__.a'],
    ['a[__prot%6f__][b]=1', 'a.__proto__.b'],
  ] as const) {
    t.strictSame(Object.entries(faultsIn(query)), [[field, ['is not a parameter']]], query)
  }
  t.match(fromQuery('__proto__=1&width=1'), { ok: true, input: { width: 1 } })
  t.equal(Reflect.get({}, 'width'), undefined)
})

// Contract: Validation
t.test('from query: rejects a name that the parser would drop or rename, as it was given', async (t) => {
  const names = ['', '[url]', '[]', '[url', 'url]', '[[url]]', 'cookies[0]name', 'geolocation[latitude]x[y]']
  for (const name of names) {
    t.same(faultsIn(`width=1&${name}=x`), { [name]: ['is not a parameter'] }, name)
    t.same(faultsIn(`width=1&${encodeURIComponent(name)}=x`), { [name]: ['is not a parameter'] }, name)
  }
})

t.test('from query: rejects more than 200 pairs', async (t) => {
  const pairs = (count: number) => Array.from({ length: count }, (_, index) => `p${index}=1`).join('&')
  t.equal(fromQuery(pairs(200)).ok, true)
  t.same(fromQuery(pairs(201)), { ok: false, errors: { query: ['must have at most 200 pairs'] } })
})

t.test('from query: rejects invalid percent-encoded UTF-8 under its name', async (t) => {
  for (const [query, field] of [
    ['html=%FF', 'html'],
    ['html=a%', 'html'],
    ['html=%u0041', 'html'],
    ['html=%ED%A0%80', 'html'],
    ['headers[X-A]=%zz', 'headers.X-A'],
    ['hide_selectors[]=%C3', 'hide_selectors'],
    ['width=1&html=%FF', 'html'],
  ] as const) {
    t.same(faultsIn(query), { [field]: ['must be percent-encoded UTF-8'] }, query)
  }
})

// Contract: GET parameters
t.test('from query: reports a repeated parameter that is not a list under its name', async (t) => {
  const fault = ['is given more than once']
  t.same(faultsIn('url=a&url=b&width=1&width=2'), { url: fault, width: fault })
  t.same(faultsIn('format=png&format=png&full_page=1&full_page=1'), { format: fault, full_page: fault })
  t.same(faultsIn('geolocation={}&geolocation={}'), { geolocation: fault })
  t.same(faultsIn('headers[X]=1&headers[X]=2&cookies[0][name]=a&cookies[0][name]=b'), {
    'headers.X': fault,
    'cookies.0.name': fault,
  })
})

t.test('from query: splits a comma list once, at most one entry beyond the bound', async (t) => {
  const entries = read(`hide_selectors=${','.repeat(65_000)}`)['hide_selectors'] as unknown[]
  t.equal(entries.length, 201)
})

t.test('from query: depth is bounded', async (t) => {
  const depth = JSON.stringify(read(`a${'[b]'.repeat(5000)}=1`)).split('{').length
  t.ok(depth < 10)
})

// Contract: GET parameters
t.test('from query: every parameter in every encoding reads as in a JSON body', async (t) => {
  fc.assert(
    fc.property(encodedParameters, (parameters) => {
      const body = Object.fromEntries(parameters.map(({ name, value }) => [name, value]))
      const input = read(parameters.map(({ query }) => query).join('&'))
      return t.strictSame(JSON.parse(JSON.stringify(input)), JSON.parse(JSON.stringify(body)))
    }),
    { seed: 5, numRuns: 400 },
  )
})

t.test('from query: reads any query or rejects it by name, and never throws', async (t) => {
  const parts = fc.oneof(
    fc.string(),
    fc.constantFrom('[', ']', '=', '&', '%', '__proto__', 'headers', 'cookies', '0', 'length'),
  )
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 60 }), (pieces) => {
      const result = fromQuery(pieces.join(''))
      return result.ok
        ? Object.getPrototypeOf(result.input) === Object.prototype
        : Object.keys(result.errors).length > 0
    }),
    { seed: 5, numRuns: 1000 },
  )
  t.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

t.test('query: an address whose own & was not encoded is named, and not if no name after it is foreign', async (t) => {
  const cut = 'ends before &q: percent-encode the address, & as %26'
  t.same(faultsIn('url=https://example.com/?a=1&width=800&q=2'), { url: [cut] })
  t.same(faultsIn('q=2&url=https://example.com/?a=1&width=800&cookies[0][name]=a'), {})
  t.same(faultsIn('url=https%3A%2F%2Fexample.com%2F%3Fa%3D1&q=2'), {})
})
