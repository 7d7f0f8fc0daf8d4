import { type ClientType, clientSchemas, type Field, mergeFields, nameIn, type Schema } from './client-schemas.ts'

const intro = '// Generated from docs/openapi.json by `make docs`.\n'

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

const renderDeclaration = ({ name, optional, schemas }: Field) =>
  `${name}${optional ? '?' : ''}: ${uniteTypes(schemas).join(' | ')}`

const comment = (text: string | undefined, indent = '') => (text === undefined ? '' : `${indent}/** ${text} */\n`)

const renderField = (field: Field) => `${comment(field.description, '  ')}  ${renderDeclaration(field)}\n`

/** Whether an interface extends another: it has all of its fields, and is its variant `…With…`. */
const isVariant = (type: ClientType, base: ClientType) => {
  const lines = new Set(type.fields.map(renderField))
  return type.name.startsWith(`${base.name}With`) && base.fields.every((field) => lines.has(renderField(field)))
}

const renderInterface = (type: ClientType, _index: number, types: readonly ClientType[]) => {
  const { name, description, fields } = type
  const base = types.find((each) => isVariant(type, each))
  const own = fields.filter((field) => !base?.fields.some((each) => each.name === field.name)).map(renderField)
  return `\n${comment(description)}export interface ${name} ${base ? `extends ${base.name} ` : ''}{\n${own.join('')}}\n`
}

/** The types from this one on are about the account, and in a file of their own: one file would be too long. */
const firstOfAccount = { requests: 'WebhookParameters', responses: 'Account' } as const

/** The types before and from the first one of the account. */
const splitTypes = (kind: keyof typeof firstOfAccount, types: readonly ClientType[]) => {
  const at = types.findIndex(({ name }) => name === firstOfAccount[kind])
  return [types.slice(0, at), types.slice(at)] as const
}

/** The files of the TypeScript client's types. */
export const clientTypes = (
  openapi: string,
): Record<'requests' | 'accountRequests' | 'options' | 'responses' | 'accountResponses', string> => {
  const { requests, options, responses: all } = clientSchemas(openapi)
  // A union that `options.ts` has.
  const responses = all.filter(({ name }) => name !== 'EndedScreenshot')
  const renderText = (types: readonly ClientType[]) => types.map(renderInterface).join('')
  const [captureRequests, accountRequests] = splitTypes('requests', requests)
  const [captureResponses, accountResponses] = splitTypes('responses', responses)
  return {
    requests: `${intro}\nexport type * from './account-requests.ts'\n${renderText(captureRequests)}`,
    accountRequests: intro + renderText(accountRequests),
    options: intro + renderText(options),
    responses:
      `${intro}import type { ${options.map(({ name }) => name).join(', ')} } from './screenshot-options.ts'\n` +
      `\nexport type * from './account-responses.ts'\n${renderText(captureResponses)}`,
    accountResponses: intro + renderText(accountResponses),
  }
}
