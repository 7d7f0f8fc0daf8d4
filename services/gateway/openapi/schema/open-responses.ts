import type { JsonSchema } from '#shared/schema/fields.ts'

type Schemas = Readonly<Record<string, JsonSchema>>
type Document = JsonSchema & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
  readonly components: Readonly<Record<string, JsonSchema>>
}

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

const namesIn = (value: unknown): readonly string[] =>
  [...(JSON.stringify(value) ?? '').matchAll(/"#\/components\/schemas\/([\w-]+)"/g)].map(([, name = '']) => name)

/** The components that a value refers to, and those that they refer to. */
const reachable = (value: unknown, schemas: Schemas): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (part: unknown) => {
    for (const name of namesIn(part)) {
      if (found.has(name)) continue
      found.add(name)
      visit(schemas[name])
    }
  }
  visit(value)
  return found
}

const requiredIn = ({ required = [] }: JsonSchema) => required as readonly string[]
const propertiesIn = ({ properties = {} }: JsonSchema) => properties as Schemas

const refersTo = ({ $ref }: JsonSchema, schemas: Schemas): JsonSchema | undefined =>
  schemas[String($ref).split('/').at(-1) ?? '']

/** Of references to objects with the same fields, the one that requires fewest; undefined if they differ otherwise. */
const widest = (alternatives: readonly JsonSchema[], schemas: Schemas): JsonSchema | undefined => {
  const found = alternatives.map((each) => ({ each, schema: refersTo(each, schemas) ?? {} }))
  const fields = new Set(found.map(({ schema }) => Object.keys(propertiesIn(schema)).toSorted().join()))
  if (fields.size !== 1 || fields.has('')) return undefined
  return found.toSorted((a, b) => requiredIn(a.schema).length - requiredIn(b.schema).length)[0]?.each
}

const joinFields = (fields: readonly JsonSchema[], schemas: Schemas): JsonSchema => {
  const different = [...new Map(fields.map((each) => [JSON.stringify(each), each])).values()]
  const [only = {}, ...others] = different
  if (others.length === 0) return only
  const constants = different.flatMap(({ const: value }) => (value === undefined ? [] : [value]))
  if (constants.length === different.length) return { type: 'string', enum: constants }
  return widest(different, schemas) ?? { anyOf: different }
}

/** One object in place of several that a field tells apart: each of their fields, required if all of them require it. */
const joinObjects = (alternatives: readonly JsonSchema[], schemas: Schemas): JsonSchema => {
  const names = new Set(alternatives.flatMap((each) => Object.keys(propertiesIn(each))))
  const fieldsOf = (name: string) =>
    alternatives.flatMap((each) => {
      const field = propertiesIn(each)[name]
      return field ? [field] : []
    })
  return {
    type: 'object',
    properties: Object.fromEntries([...names].map((name) => [name, joinFields(fieldsOf(name), schemas)])),
    required: [...names].filter((name) => alternatives.every((each) => requiredIn(each).includes(name))),
  }
}

const withoutKeywords = (schema: JsonSchema, ...names: readonly string[]): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)))

/** A schema of a response as a client may rely on it. */
const openSchema = (schema: JsonSchema, schemas: Schemas): JsonSchema => {
  const { properties, enum: values, oneOf, anyOf, discriminator, format, pattern } = schema
  if (discriminator !== undefined && Array.isArray(oneOf)) {
    const joined = joinObjects(
      (oneOf as JsonSchema[]).map((each) => refersTo(each, schemas) ?? {}),
      schemas,
    )
    return openSchema({ ...withoutKeywords(schema, 'oneOf', 'discriminator'), ...joined }, schemas)
  }
  const same = Array.isArray(anyOf) ? widest(anyOf as JsonSchema[], schemas) : undefined
  if (same) return same
  const closed = [
    ...(pattern !== undefined && format === 'date-time' ? ['pattern'] : []),
    ...(Array.isArray(values) ? ['enum'] : []),
  ]
  const known = Array.isArray(values) ? values.filter((value) => value !== null) : []
  const open = {
    ...withoutKeywords(schema, ...closed),
    ...(known.length > 0 && { 'x-extensible-enum': known }),
    // Said aloud: the Go of OpenAPI Generator refuses unknown fields otherwise.
    ...(properties !== undefined && { additionalProperties: true }),
  }
  return Object.fromEntries(Object.entries(open).map(([name, part]) => [name, openPart(name, part, schemas)]))
}

/** Examples are data, not schemas. */
const openPart = (name: string, part: unknown, schemas: Schemas): unknown => {
  if (name === 'example' || name === 'examples' || name === 'required' || name === 'x-extensible-enum') return part
  if (Array.isArray(part)) return part.map((each) => openPart('', each, schemas))
  if (name === 'properties' && isObject(part))
    return Object.fromEntries(Object.entries(part).map(([field, each]) => [field, openPart('', each, schemas)]))
  return isObject(part) ? openSchema(part, schemas) : part
}

/**
 * The document as clients are generated from it. Responses are described as they may become: further fields, further values of an
 * enum (`x-extensible-enum`), and one object for a record in any state, so that a client of today reads what is added tomorrow. The
 * document that it is made of describes them as they are, and validates them.
 */
export const openResponses = (document: Document): Document => {
  const schemas = (document.components['schemas'] ?? {}) as Schemas
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const requested = reachable(
    operations.map(({ parameters, requestBody }) => [parameters, requestBody]),
    schemas,
  )
  const open = (part: unknown) => openPart('', part, schemas)
  const opened = Object.entries(schemas).map(([name, each]) => [name, requested.has(name) ? each : open(each)] as const)
  const { responses, ...components } = document.components
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, each]) => [method, { ...each, responses: open(each['responses']) }]),
    ),
  ])
  const changed = {
    ...document,
    paths: Object.fromEntries(paths) as Document['paths'],
    webhooks: open(document['webhooks']),
  }
  const used = reachable([changed.paths, changed.webhooks, open(responses)], Object.fromEntries(opened) as Schemas)
  return {
    ...changed,
    components: {
      ...components,
      responses: open(responses) as JsonSchema,
      schemas: Object.fromEntries(opened.filter(([name]) => used.has(name))),
    },
  }
}
