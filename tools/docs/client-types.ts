type Schema = {
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
type Field = { readonly name: string; readonly optional: boolean; readonly schemas: readonly Schema[] }

const intro = '// Generated from docs/openapi.json by `make docs`.\n'

const bodies = ['CaptureParameters', 'BatchParameters', 'NewWebhook', 'WebhookChange', 'NewApiKey']

const nameIn = ({ $ref = '' }: Schema) => $ref.slice($ref.lastIndexOf('/') + 1)

const quoted = (text: string | null) => (text === null ? 'null' : `'${text}'`)

const inGroup = (types: readonly string[]) => (types.length > 1 ? `(${types.join(' | ')})` : types.join(''))

const listTypes = (schema: Schema): string[] => {
  const { items, properties, additionalProperties: values } = schema
  if (schema.$ref) return [nameIn(schema)]
  if (schema.const !== undefined) return [quoted(schema.const)]
  if (schema.enum) return schema.enum.map(quoted)
  if (schema.oneOf ?? schema.anyOf) return uniteTypes(schema.oneOf ?? schema.anyOf ?? [])
  return [schema.type ?? 'unknown'].flat().map((type) => {
    if (type === 'integer') return 'number'
    if (type === 'array') return items ? `${inGroup(listTypes(items))}[]` : 'unknown[]'
    if (type !== 'object') return type
    if (properties) return `{ ${mergeFields([schema]).map(renderDeclaration).join('; ')} }`
    return `Record<string, ${typeof values === 'object' ? uniteTypes([values]).join(' | ') : 'unknown'}>`
  })
}

const uniteTypes = (schemas: readonly Schema[]) => [...new Set(schemas.flatMap(listTypes))]

/** The merged fields of all variants of an object; a field that a variant may lack is optional. */
const mergeFields = (variants: readonly Schema[]): Field[] =>
  [...new Set(variants.flatMap(({ properties = {} }) => Object.keys(properties)))].map((name) => ({
    name,
    optional: variants.some(({ required = [] }) => !required.includes(name)),
    schemas: variants.flatMap(({ properties = {} }) => properties[name] ?? []),
  }))

const renderDeclaration = ({ name, optional, schemas }: Field) =>
  `${name}${optional ? '?' : ''}: ${uniteTypes(schemas).join(' | ')}`

const comment = (text: string | undefined, indent = '') => (text === undefined ? '' : `${indent}/** ${text} */\n`)

/** The variants of a schema with `oneOf`, else the schema itself. */
const resolveVariants = (schema: Schema, schemas: Schemas): readonly Schema[] =>
  schema.properties ? [schema] : (schema.oneOf ?? []).map((each) => schemas[nameIn(each)] ?? {})

const renderInterface = (name: string, schema: Schema, schemas: Schemas) => {
  const fields = mergeFields(resolveVariants(schema, schemas)).map((field) => {
    const [first, ...others] = new Set(field.schemas.map(({ description }) => description))
    return `${comment(others.length === 0 ? first : undefined, '  ')}  ${renderDeclaration(field)}\n`
  })
  return `\n${comment(schema.description)}export interface ${name} {\n${fields.join('')}}\n`
}

/** Names of the schemas that a schema refers to at any depth. */
const refsIn = (schema: Schema = {}): string[] =>
  [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name)

/**
 * The types of the client as TypeScript: `requests` has an interface for each request body, `options` for the options of a screenshot,
 * which repeat its request, `responses` for each `data` of a response.
 */
export const clientTypes = (openapi: string): Record<'requests' | 'options' | 'responses', string> => {
  const { schemas } = (JSON.parse(openapi) as { components: { schemas: Schemas } }).components
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
    else if (data) throw new Error(`${name}: make its data a component, so that the client has a type for it`)
  }
  const options = [...declared.keys()].filter((name) => name.endsWith('Options'))
  const renderText = (names: readonly string[]) =>
    names.map((name) => renderInterface(name, declared.get(name) ?? schemas[name] ?? {}, schemas)).join('')
  return {
    requests: intro + renderText(bodies),
    options: intro + renderText(options),
    responses:
      `${intro}import type { ${options.join(', ')} } from './screenshot-options.ts'\n` +
      renderText([...declared.keys()].filter((name) => !options.includes(name))),
  }
}
