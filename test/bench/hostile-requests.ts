import { captureParameters } from '#shared/capture/options.ts'

/** A request as it goes over the wire, but for its key. */
export type HostileRequest = { readonly name: string; readonly head: string; readonly body: string }

/** Texts that cost a reader more than their length. */
const texts: Readonly<Record<string, string>> = {
  letters: 'a',
  escapes: String.raw`\111111`,
  brackets: '[',
  objects: '{"a":',
  parentheses: ':is(',
  commas: 'a,',
  percent: '%41',
  broken: '%',
  spaces: ' ',
  dots: '.',
  colons: ':',
  quotes: '"',
  wide: 'é',
  dashes: '-',
  slashes: '/',
  digits: '1',
  combinators: 'a>',
}

const shownCharacters = 20
const headBytes = 64 * 1024 - 600

const fill = (text: string, bytes: number) => text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes)

const post = (path: string, name: string, body: string, more = ''): HostileRequest => {
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`
  return { name: `POST ${path} ${name}`, head: `POST /v1${path} HTTP/1.1\r\n${length}${more}`, body }
}

const get = (path: string, name: string, query: string, more = ''): HostileRequest => ({
  name: `GET ${path.slice(0, shownCharacters)} ${name}`,
  head: `GET /v1${path}?${query.slice(0, headBytes)} HTTP/1.1\r\n${more}`,
  body: '',
})

/** Values of one parameter that fill `bytes` of JSON. */
const valuesOf = (text: string, bytes: number): Record<string, unknown> => {
  const pieces = (size: number) => Array.from({ length: Math.floor(bytes / (size + 3)) }, () => fill(text, size))
  return {
    'one text': fill(text, bytes),
    'texts of 500': pieces(500),
    'texts of 5': pieces(5),
    'names of 20': Object.fromEntries(
      pieces(40).map((piece, at) => [`${at}${piece}`.slice(0, 20), piece.slice(0, 20)]),
    ),
    cookies: pieces(120).map((piece) => ({
      name: piece.slice(0, 40),
      value: piece.slice(0, 40),
      domain: piece.slice(0, 40),
    })),
  }
}

const bodiesOf = (bytes: number): HostileRequest[] => {
  const parameters = { url: 'https://example.com/' }
  const names = Object.keys(captureParameters.properties)
  return names.flatMap((name) =>
    Object.entries(texts).flatMap(([kind, text]) =>
      Object.entries(valuesOf(text, bytes)).map(([shape, value]) =>
        post(
          '/screenshots',
          `${name}: ${kind}, ${shape}`,
          JSON.stringify({ ...parameters, [name]: value }).slice(0, bytes + 200),
        ),
      ),
    ),
  )
}

const structuresOf = (bytes: number): HostileRequest[] => {
  const many = (count: number, value: unknown) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, value])))
  const every = Object.keys(captureParameters.properties)
  const bodies = {
    'lists in lists': fill('[', bytes),
    'objects in objects': fill('{"a":', bytes),
    'unknown names': many(Math.min(9000, Math.floor(bytes / 11)), 1),
    '199 unknown names': many(199, fill('a', Math.floor(bytes / 220))),
    'every parameter, wrong': JSON.stringify(
      Object.fromEntries(every.map((name) => [name, { a: fill('a', Math.floor(bytes / 80)) }])),
    ),
    'every parameter, a long text': JSON.stringify(
      Object.fromEntries(every.map((name) => [name, fill('a>', Math.floor(bytes / 70))])),
    ),
    'selectors and all that is judged': JSON.stringify({
      url: `https://example.com/${fill('a', 500)}`,
      hide_selectors: Array.from({ length: 20 }, () => fill(':is(a>', 500)),
      wait_for_selector: fill('a>', 499),
      selector: fill(':is(', 500),
      headers: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at}${fill('a', 50)}`, fill('b', 20)])),
      cookies: Array.from({ length: 20 }, (_, at) => ({
        name: `a${at}`,
        value: fill('c', 200),
        domain: fill('d.', 250),
      })),
      proxy: `http://${fill('a', 100)}:${fill('%41', 300)}@example.com:1`,
    }),
    commas: fill(',', bytes),
    'not UTF-8': fill('"\u0080', bytes),
  }
  return ['/screenshots', '/screenshots/capture', '/screenshots/batch', '/webhooks'].flatMap((path) =>
    Object.entries(bodies).map(([name, body]) => post(path, name, body)),
  )
}

const queries = (): HostileRequest[] => {
  const path = '/screenshots/capture'
  const names = Object.keys(captureParameters.properties)
  const pairs = (pair: (at: number) => string) => Array.from({ length: 199 }, (_, at) => pair(at)).join('&')
  const wide = Math.floor(headBytes / 200) - 10
  return [
    ...names.flatMap((name) =>
      Object.entries(texts).flatMap(([kind, text]) => {
        const plain = /[" {}]/.test(text) ? encodeURIComponent(text) : text
        return [
          get(path, `${name}: ${kind}`, `${name}=${fill(plain, headBytes)}`),
          get(path, `${name}: ${kind}, JSON`, `${name}=[${fill(`"${plain}",`, headBytes)}`),
          get(
            path,
            `${name}[]: ${kind}`,
            pairs(() => `${name}[]=${fill(plain, wide)}`),
          ),
          get(
            path,
            `${name}[a][b]: ${kind}`,
            pairs((at) => `${name}[${at}][${fill('b', 20)}]=${fill(plain, wide - 30)}`),
          ),
        ]
      }),
    ),
    get(
      path,
      'names of brackets',
      pairs(() => fill('[a]', wide)),
    ),
    get(path, 'one name of brackets', fill('[', headBytes)),
    get(path, 'one deep name', `a${fill('[b]', headBytes)}=1`),
    get(path, 'many pairs', fill('a&', headBytes)),
    get('/screenshots', 'list with many pairs', fill('a=b&', headBytes)),
    get(
      '/screenshots/22222222-2222-4222-8222-222222222222/image',
      'link with many pairs',
      `signature=a&${fill('kid=%61&', headBytes)}`,
    ),
  ]
}

const heads = (): HostileRequest[] => {
  const lines = (name: string, value: string, count: number) => `${name}: ${value}\r\n`.repeat(count)
  const path = '/account'
  return [
    get(path, 'many header lines', '', lines('a', 'b', 10_000)),
    get(path, 'many different header lines', '', Array.from({ length: 6000 }, (_, at) => `x${at}: 1\r\n`).join('')),
    get(path, 'many forwarded hops', '', `x-forwarded-for: ${fill('1.1.1.1,', headBytes)}\r\n`),
    get(path, 'a long origin', '', `origin: https://${fill('a.', headBytes)}\r\n`),
    get(path, 'an encoded origin', '', `origin: https://${fill('%41', headBytes)}\r\n`),
    get(path, 'a wide origin', '', `origin: https://${fill('xn--', headBytes)}\r\n`),
    get(path, 'a long trace', '', `traceparent: 00-${fill('0', headBytes)}\r\n`),
    get(path, 'a long request id', '', `x-request-id: ${fill('a', headBytes)}\r\n`),
    get(path, 'a long idempotency key', '', `idempotency-key: ${fill('a', headBytes)}\r\n`),
    get(`/screenshots/${fill('%41', headBytes - 100)}`, 'a long id', ''),
    get(`/screenshots/${fill('%', headBytes - 100)}`, 'a broken id', ''),
    get(`/screenshots/${fill('%/', headBytes - 100)}`, 'a broken path', ''),
    get(`/screenshots/${fill('%/', 480)}`, 'a short broken path', ''),
    get(fill('/', headBytes), 'a path of slashes', ''),
    get(fill('/screenshots', headBytes), 'a path that repeats', ''),
  ]
}

/** Requests that cost as much as can be made of each parameter, in a body of `bytes`, and of each part of a request. */
export const hostileRequests = (bytes: number, largestBytes: number): HostileRequest[] => [
  ...bodiesOf(bytes),
  ...structuresOf(bytes),
  ...structuresOf(largestBytes),
  ...queries(),
  ...heads(),
]
