import { parse } from 'qs'
import type { FieldErrors } from '#shared/errors/app-error.ts'
import { collectErrors, type Report } from './validation-errors.ts'
import { isDecodable } from './is-decodable.ts'
import { captureParameters } from './options.ts'

/** The parameters of a query in the types of a JSON body, with the errors of single ones; or why it was not parsed at all. */
type QueryInput =
  | { readonly ok: true; readonly input: Record<string, unknown>; readonly errors: FieldErrors }
  | { readonly ok: false; readonly errors: FieldErrors }

/** Most `name=value` pairs of one query. */
const pairsMax = 200
/** Most entries that are parsed of a comma list; more than any list may have. */
const listMax = 200

type Schema = {
  readonly type?: string
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

const fromJson = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Splits a comma list; commas inside of brackets belong to an entry, such as `:is(a, b)`. */
const fromList = (text: string): string[] => {
  const entries: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at <= text.length && entries.length <= listMax; at += 1) {
    const character = text[at]
    if (character === '(' || character === '[') depth += 1
    else if (character === ')' || character === ']') depth = Math.max(0, depth - 1)
    else if (character === undefined || (character === ',' && depth === 0)) {
      entries.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  return entries
}

const convertText = (text: string, schema: Schema): unknown => {
  if (schema.type === 'integer') return /^-?\d+$/.test(text) ? Number(text) : text
  if (schema.type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (schema.type === 'boolean') return { true: true, 1: true, false: false, 0: false }[text] ?? text
  if (schema.type === 'object') return fromJson(text) ?? text
  if (schema.type === 'array') return fromJson(text) ?? fromList(text)
  return text
}

const convert = (field: string, value: unknown, schema: Schema | undefined, report: Report): unknown => {
  if (schema === undefined) return value
  if (typeof value === 'string') return convertText(value, schema)
  if (!Array.isArray(value)) return convertFields(field, value as Record<string, unknown>, { schema, report })
  const { type, items } = schema
  if (type === 'array') return value.map((entry, index) => convert(`${field}.${index}`, entry, items, report))
  if (value.length < 2) return value
  report(field, 'is given more than once')
  return convert(field, value[0], schema, report)
}

const findSchema = ({ properties = {}, patternProperties = {} }: Schema, name: string): Schema | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : Object.values(patternProperties)[0]

const convertFields = (
  path: string,
  value: Record<string, unknown>,
  { schema, report }: { schema: Schema; report: Report },
) =>
  Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      name,
      convert(path === '' ? name : `${path}.${name}`, entry, findSchema(schema, name), report),
    ]),
  )

/** A parameter with optional keys in brackets. The parser would drop a part of any other name, or all of it. */
const nameForm = /^[^[\]]+(?:\[[^[\]]*\])*$/

/** Converts a name to a field: `cookies[0][name]` to `cookies.0.name`; invalid names stay unchanged. */
const toField = (name: string): string =>
  nameForm.test(name) ? name.replaceAll(/\[([^[\]]*)\]/g, '.$1').replace(/\.$/, '') : name

const checkPair = (pair: string, report: Report) => {
  if (pair === '') return
  // Undecodable bytes become U+FFFD. Without the `&` a leading question mark would be dropped.
  const [name = ''] = new URLSearchParams(`&${pair}`).keys()
  const field = toField(name)
  if (!isDecodable(pair)) report(field, 'must be percent-encoded UTF-8')
  // The parser drops `__proto__` silently, whatever its options.
  if (!nameForm.test(name) || field.includes('__proto__')) report(field, 'is not a parameter')
}

/** Reports an address whose own parameters, after an `&` that is not encoded, became parameters of the capture. */
const checkAddress = (pairs: readonly string[], report: Report) => {
  const at = pairs.findIndex((pair) => /^url=[^?]*\?/.test(pair))
  const rest = at < 0 ? [] : pairs.slice(at + 1).map((pair) => pair.split('=')[0] ?? '')
  const cut = rest.find((name) => name !== '' && !Object.hasOwn(captureParameters.properties, name.replace(/\[.*/, '')))
  if (cut !== undefined) report('url', `ends before &${cut}: percent-encode the address, & as %26`)
}

/** Escapes `=` in the value: the parser would end the name at `]=`, even in a value. */
const withPlainValue = (pair: string): string => {
  const valueAt = pair.indexOf('=') + 1
  return valueAt === 0 ? pair : pair.slice(0, valueAt) + pair.slice(valueAt).replaceAll('=', '%3D')
}

/**
 * Reads the query of a GET capture by the parameters' types: lists as repeated keys, `key[]`, comma list or JSON;
 * objects as JSON or `key[sub]`; booleans `true`, `false`, `1`, `0`; numbers in decimal. Values of the wrong type stay
 * text, for the validation to report. At most 200 pairs.
 */
export const fromQuery = (query: string): QueryInput => {
  const pairs = query.split('&', pairsMax + 1)
  if (pairs.length > pairsMax) return { ok: false, errors: { query: [`must have at most ${pairsMax} pairs`] } }
  const { report, all } = collectErrors()
  for (const pair of pairs) checkPair(pair, report)
  checkAddress(pairs, report)
  const parsed = parse(pairs.map(withPlainValue).join('&'), {
    depth: 3,
    parameterLimit: pairsMax,
    arrayLimit: 100,
    plainObjects: true,
    allowPrototypes: true,
  })
  const input = convertFields('', parsed, { schema: captureParameters as Schema, report })
  return { ok: true, input, errors: all() ?? {} }
}
