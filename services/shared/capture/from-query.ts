import { parse } from 'qs'
import type { FieldFaults } from '#shared/errors/app-error.ts'
import { captureParameters } from './options.ts'

/** The parameters of a query in the types that a JSON body would have, or why it cannot be read at all. */
export type QueryInput = { ok: true; input: Record<string, unknown> } | { ok: false; faults: FieldFaults }

/** Most `name=value` pairs of one query. */
const pairsMax = 200

type Schema = {
  readonly type?: string
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

const fromJson = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A comma list; commas inside of brackets belong to an entry, such as `:is(a, b)`. */
const fromList = (text: string): string[] => text.split(/,(?![^()[\]]*[)\]])/).map((entry) => entry.trim())

const convertText = (text: string, schema: Schema): unknown => {
  if (schema.type === 'integer') return /^-?\d+$/.test(text) ? Number(text) : text
  if (schema.type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (schema.type === 'boolean') return { true: true, 1: true, false: false, 0: false }[text] ?? text
  if (schema.type === 'object') return fromJson(text) ?? text
  if (schema.type === 'array') return fromJson(text) ?? fromList(text)
  return text
}

const convert = (value: unknown, schema: Schema | undefined): unknown => {
  if (schema === undefined) return value
  if (typeof value === 'string') return convertText(value, schema)
  if (Array.isArray(value)) return schema.items ? value.map((entry) => convert(entry, schema.items)) : value
  return convertFields(value as Record<string, unknown>, schema.properties ?? {})
}

const convertFields = (value: Record<string, unknown>, schemas: Readonly<Record<string, Schema>>) =>
  Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      name,
      convert(entry, Object.hasOwn(schemas, name) ? schemas[name] : undefined),
    ]),
  )

/**
 * Reads the query of a GET capture by the parameters' types: lists as repeated keys, `key[]`, comma list or JSON;
 * objects as JSON or `key[sub]`; booleans `true`, `false`, `1`, `0`; numbers in decimal. What fits no type stays text,
 * for the validation to name. At most 200 pairs.
 */
export const fromQuery = (query: string): QueryInput => {
  if (query.split('&').length > pairsMax)
    return { ok: false, faults: { query: [`must have at most ${pairsMax} pairs`] } }
  // The parser drops this one name silently, whatever its options.
  if ([...new URLSearchParams(query).keys()].some((key) => key.includes('__proto__'))) {
    return { ok: false, faults: { ['__proto__']: ['is not a parameter'] } }
  }
  const parsed = parse(query, {
    depth: 3,
    parameterLimit: pairsMax,
    arrayLimit: 100,
    plainObjects: true,
    allowPrototypes: true,
  })
  return { ok: true, input: convertFields(parsed, captureParameters.properties as Readonly<Record<string, Schema>>) }
}
