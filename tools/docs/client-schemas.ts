/** A schema of the OpenAPI document, as far as the clients' types need it. */
export type Schema = {
  readonly $ref?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly const?: string
  readonly enum?: readonly (string | null)[]
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}
type Schemas = Readonly<Record<string, Schema>>

/** A field of a client's type; its schemas are those of all variants of the object. */
export type Field = {
  readonly name: string
  readonly optional: boolean
  readonly schemas: readonly Schema[]
  readonly description: string | undefined
}

/** An object that a client has a type for. */
export type ClientType = {
  readonly name: string
  readonly description: string | undefined
  readonly fields: readonly Field[]
}

const bodies = [
  'CaptureParameters',
  'BatchParameters',
  'WebhookParameters',
  'WebhookChange',
  'UploadDestinationParameters',
  'ApiKeyParameters',
  'LinkParameters',
]

export const nameIn = ({ $ref = '' }: Schema): string => $ref.slice($ref.lastIndexOf('/') + 1)

/** The merged fields of all variants of an object; a field that a variant may lack is optional. */
export const mergeFields = (variants: readonly Schema[]): Field[] =>
  [...new Set(variants.flatMap(({ properties = {} }) => Object.keys(properties)))].map((name) => {
    const schemas = variants.flatMap(({ properties = {} }) => properties[name] ?? [])
    const [first, ...others] = new Set(schemas.map(({ description }) => description))
    return {
      name,
      optional: variants.some(({ required = [] }) => !required.includes(name)),
      schemas,
      description: others.length === 0 ? first : undefined,
    }
  })

/** The variants of a schema with `oneOf`, else the schema itself. */
const resolveVariants = (schema: Schema, schemas: Schemas): readonly Schema[] =>
  schema.properties ? [schema] : (schema.oneOf ?? []).map((each) => schemas[nameIn(each)] ?? {})

/** Names of the schemas that a schema refers to at any depth. */
const refsIn = (schema: Schema = {}): string[] =>
  [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name)

/** The schemas of each `data` of a response, and those that they refer to. */
const declareResponses = (schemas: Schemas): ReadonlyMap<string, Schema> => {
  const declared = new Map<string, Schema>()
  const declare = (name: string, schema: Schema | undefined) => {
    if (!schema || declared.has(name)) return
    declared.set(name, schema)
    for (const variant of resolveVariants(schema, schemas))
      for (const each of refsIn(variant)) declare(each, schemas[each])
  }
  for (const [name, { properties }] of Object.entries(schemas)) {
    const data = /(Answer|Page|List)$/.test(name) ? properties?.['data'] : undefined
    const refs = refsIn(data)
    if (data?.properties) declare(name.replace('Answer', ''), data)
    else if (refs.length > 0) for (const each of refs) declare(each, schemas[each])
    else if (data) throw new Error(`${name}: make its data a component, so that the clients have a type for it`)
  }
  return declared
}

/**
 * The types of a client: `requests` has one for each request body, `options` those of the options of a screenshot, which repeat
 * its request, `responses` one for each `data` of a response.
 */
export const clientSchemas = (openapi: string): Record<'requests' | 'options' | 'responses', ClientType[]> => {
  const { schemas } = (JSON.parse(openapi) as { components: { schemas: Schemas } }).components
  const responses = declareResponses(schemas)
  const typesOf = (names: readonly string[]) =>
    names.map((name) => {
      const schema = responses.get(name) ?? schemas[name] ?? {}
      return { name, description: schema.description, fields: mergeFields(resolveVariants(schema, schemas)) }
    })
  const isOptions = (name: string) => name.endsWith('Options')
  const names = [...responses.keys()]
  return {
    requests: typesOf(bodies),
    options: typesOf(names.filter(isOptions)),
    responses: typesOf(names.filter((name) => !isOptions(name))),
  }
}
