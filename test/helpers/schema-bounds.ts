/** The part of a CustomResourceDefinition's OpenAPI schema that contains bounds. */
export type Schema = {
  readonly type?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly enum?: readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[]
}

type Keys = readonly (string | number)[]

/** A bound of a field, and a value that violates only this bound; undefined if the violation is omitting the field. */
export type Bound = { readonly keys: Keys; readonly keyword: string; readonly bad: unknown }

/** A path in the notation of the API server's error messages: `spec.env[0].name`. */
export const joinKeys = (keys: Keys): string =>
  keys.map((key, index) => (typeof key === 'number' ? `[${key}]` : (index > 0 ? '.' : '') + key)).join('')

/** The value at a path. Throws if it is missing, so that an example cannot omit a field. */
const at = (value: unknown, keys: Keys): unknown =>
  keys.reduce((inner, key) => {
    const found = (inner as Record<string | number, unknown>)[key]
    if (found === undefined) throw new Error(`the example has no ${joinKeys(keys)}`)
    return found
  }, value)

const refillMap = (example: object, size: number) =>
  Object.fromEntries(Array.from({ length: size }, (_, index) => [`name-${index}`, Object.values(example)[0]]))

/** Creates items with distinct keys; only for keys whose pattern allows letters. */
const refillList = (schema: Schema, [first = {}]: readonly object[], size: number) => {
  const key = schema['x-kubernetes-list-map-keys']?.[0]
  const name = key === undefined ? '' : String((first as Record<string, unknown>)[key])
  return Array.from({ length: size }, (_, index) =>
    key === undefined ? first : { ...first, [key]: name + 'x'.repeat(index) },
  )
}

/** Values that violate the bounds of one field, by keyword. */
const breaks = (schema: Schema, example: unknown): readonly (readonly [string, unknown])[] =>
  Object.entries({
    minimum: schema.minimum !== undefined && schema.minimum - 1,
    maximum: schema.maximum !== undefined && schema.maximum + 1,
    minLength: schema.minLength !== undefined && '',
    maxLength:
      schema.maxLength !== undefined &&
      String(example)
        .slice(0, 1)
        .repeat(schema.maxLength + 1),
    pattern: schema.pattern !== undefined && '! ?',
    enum: schema.enum && 'else',
    format: schema.format === 'date-time' && 'yesterday',
    maxItems: schema.maxItems !== undefined && refillList(schema, example as object[], schema.maxItems + 1),
    maxProperties: schema.maxProperties !== undefined && refillMap(example as object, schema.maxProperties + 1),
  }).filter(([, bad]) => bad !== false && bad !== undefined)

/** The first list item that has the field, because fields may exclude each other. */
const itemWith = (example: unknown, keys: Keys, name: string): Keys => {
  if (typeof keys.at(-1) !== 'number') return keys
  const list = keys.slice(0, -1)
  const index = (at(example, list) as readonly object[]).findIndex((item) => name in item)
  return index < 0 ? keys : [...list, index]
}

/** All bounds of a schema. `example` must set every field. */
export const boundsOf = (schema: Schema, example: unknown, keys: Keys): Bound[] => {
  const value = at(example, keys)
  const { properties = {}, required = [], items, additionalProperties } = schema
  const [anyName = ''] = additionalProperties ? Object.keys(value as object) : []
  return [
    ...breaks(schema, value).map(([keyword, bad]) => ({ keys, keyword, bad })),
    ...required.map((name) => ({ keys: [...keys, name], keyword: 'required', bad: undefined })),
    ...Object.entries(properties).flatMap(([name, each]) =>
      boundsOf(each, example, [...itemWith(example, keys, name), name]),
    ),
    ...(items ? boundsOf(items, example, [...keys, 0]) : []),
    ...(additionalProperties ? boundsOf(additionalProperties, example, [...keys, anyName]) : []),
  ]
}

/** A copy of the example with the value at a path replaced. */
export const replaceAt = <T extends object>(example: T, keys: Keys, value: unknown): T => {
  const copy = structuredClone(example)
  const holder = at(copy, keys.slice(0, -1)) as Record<string | number, unknown>
  holder[keys.at(-1) ?? ''] = value
  return copy
}

/** The validation rules of a schema as `path: message`. */
export const listRules = (schema: Schema, path: string): string[] => [
  ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => `${path}: ${message}`),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => listRules(each, `${path}.${name}`)),
  ...(schema.items ? listRules(schema.items, `${path}[]`) : []),
]

/** A copy of a definition's `spec` without rules, bounds, subresources and short names; required fields stay required. */
export const withoutBounds = (spec: object): object =>
  JSON.parse(JSON.stringify(spec, (key, value: unknown) => (dropped.has(key) ? undefined : value))) as object

const dropped = new Set([
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'enum',
  'format',
  'maxItems',
  'maxProperties',
  'x-kubernetes-validations',
  'subresources',
  'shortNames',
])
