import { captureSchema } from '#gateway/openapi/capture-parameters.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'

const intro = `/**
 * Parameters of a capture. Exactly one of \`url\`, \`html\` and \`markdown\` is required. Bounds and defaults: docs/parameters.md of the
 * service. Generated from the service's code by \`make docs\`.
 */
export interface CaptureParameters {
`

const fieldTypes = ({ properties = {}, required = [] }: StructuralSchema) =>
  Object.entries(properties).map(([name, each]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(each)}`)

const typeOf = (schema: StructuralSchema): string => {
  const { type = 'unknown', items, properties, additionalProperties: values } = schema
  if (schema.enum) return schema.enum.map((word) => `'${word}'`).join(' | ')
  if (items) return items.enum ? `(${typeOf(items)})[]` : `${typeOf(items)}[]`
  if (properties) return `{ ${fieldTypes(schema).join('; ')} }`
  if (values) return `Record<string, ${typeOf(values)}>`
  return type === 'integer' ? 'number' : type
}

/** The text of clients/typescript/capture-parameters.d.ts. */
export const clientParameters = (): string => {
  const schema = structuralSchema(captureSchema)
  const notes = Object.values(schema.properties ?? {}).map(({ description }) => description)
  const fields = fieldTypes(schema).map((field, place) => `  /** ${notes[place]} */\n  ${field}\n`)
  return `${intro}${fields.join('')}}\n`
}
