import * as fc from 'fast-check'

/** A parameter's value as JSON, and an equivalent query. */
export type Encoded = { readonly value: unknown; readonly query: string }

const word = fc.string({ unit: 'grapheme', maxLength: 12 })
/** A header name; a name of only digits would be parsed as a list index. */
const headerName = fc.stringMatching(/^[A-Za-z][\w!#$%&'*+.^`|~-]{0,12}$/).filter((name) => !name.includes('__proto__'))
const simpleSelector = fc.stringMatching(/^[a-z#.][\w-]{0,8}( > [a-z]{1,4})?(:is\([a-z]{1,4}, ?[a-z]{1,4}\))?$/)
const decimal = (most: number) => fc.integer({ min: -most * 1000, max: most * 1000 }).map((n) => n / 1000)

/** Percent-encodes; spaces optionally as plus. */
const encode = (text: string, plus = false) =>
  plus ? encodeURIComponent(text).replaceAll('%20', '+') : encodeURIComponent(text)

const pairs = (name: string, entries: readonly (readonly [string, unknown])[]): string =>
  entries.map(([key, value]) => `${encode(`${name}${key}`)}=${encode(String(value))}`).join('&')

const asJson = (name: string) => (value: unknown) => ({ value, query: pairs(name, [['', JSON.stringify(value)]]) })

const texts = (name: string) =>
  fc.tuple(word, fc.boolean()).map(([value, plus]) => ({ value, query: `${name}=${encode(value, plus)}` }))

const integers = (name: string) => fc.integer().map((value) => ({ value, query: `${name}=${value}` }))

const flags = (name: string) =>
  fc.tuple(fc.boolean(), fc.boolean()).map(([value, asWord]) => ({
    value,
    query: `${name}=${asWord ? value : Number(value)}`,
  }))

const lists = (name: string) =>
  fc.oneof(
    fc.array(word, { maxLength: 20 }).map(asJson(name)),
    fc.array(word, { minLength: 2, maxLength: 20 }).map((value) => ({
      value,
      query: pairs(
        name,
        value.map((entry) => ['', entry]),
      ),
    })),
    fc.array(word, { minLength: 1, maxLength: 20 }).map((value) => ({
      value,
      query: pairs(
        name,
        value.map((entry) => ['[]', entry]),
      ),
    })),
    fc.array(simpleSelector, { minLength: 1, maxLength: 20 }).map((value) => ({
      value,
      query: pairs(name, [['', value.join(',')]]),
    })),
  )

const records = (name: string) =>
  fc.dictionary(headerName, word, { minKeys: 1, maxKeys: 10, noNullPrototype: true }).chain((value) =>
    fc.constantFrom(asJson(name)(value), {
      value,
      query: pairs(
        name,
        Object.entries(value).map(([key, entry]) => [`[${key}]`, entry]),
      ),
    }),
  )

const places = (name: string) =>
  fc.record({ latitude: decimal(90), longitude: decimal(180) }, { noNullPrototype: true }).chain((value) =>
    fc.constantFrom(asJson(name)(value), {
      value,
      query: pairs(
        name,
        Object.entries(value).map(([key, entry]) => [`[${key}]`, entry]),
      ),
    }),
  )

const cookies = (name: string) =>
  fc
    .array(fc.record({ name: word, value: word }, { noNullPrototype: true }), { minLength: 1, maxLength: 20 })
    .chain((value) =>
      fc.constantFrom(asJson(name)(value), {
        value,
        query: pairs(
          name,
          value.flatMap((cookie, at) => [
            [`[${at}][name]`, cookie.name] as const,
            [`[${at}][value]`, cookie.value] as const,
          ]),
        ),
      }),
    )

/** Parameters of a capture with values of their types, each in one of the encodings that a query may have. */
export const encodedParameters: fc.Arbitrary<readonly (Encoded & { readonly name: string })[]> = fc
  .record(
    {
      url: texts('url'),
      css: texts('css'),
      selector: texts('selector'),
      width: integers('width'),
      full_page: flags('full_page'),
      retina: flags('retina'),
      hide_selectors: lists('hide_selectors'),
      headers: records('headers'),
      cookies: cookies('cookies'),
      geolocation: places('geolocation'),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map((fields) => Object.entries(fields).map(([name, encoded]) => ({ name, ...(encoded as Encoded) })))
