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

const renderInterface = ({ name, description, fields }: ClientType) => {
  const lines = fields.map((field) => `${comment(field.description, '  ')}  ${renderDeclaration(field)}\n`)
  return `\n${comment(description)}export interface ${name} {\n${lines.join('')}}\n`
}

/** The response types from this one on are about the account, and in a file of their own: one file would be too long. */
const firstOfAccount = 'Account'

/** The files of the TypeScript client's types. */
export const clientTypes = (
  openapi: string,
): Record<'requests' | 'options' | 'responses' | 'accountResponses', string> => {
  const { requests, options, responses } = clientSchemas(openapi)
  const renderText = (types: readonly ClientType[]) => types.map(renderInterface).join('')
  const accountAt = responses.findIndex(({ name }) => name === firstOfAccount)
  return {
    requests: intro + renderText(requests),
    options: intro + renderText(options),
    responses:
      `${intro}import type { ${options.map(({ name }) => name).join(', ')} } from './screenshot-options.ts'\n` +
      `\nexport type * from './account-responses.ts'\n${renderText(responses.slice(0, accountAt))}`,
    accountResponses: intro + renderText(responses.slice(accountAt)),
  }
}
