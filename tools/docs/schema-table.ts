import type { StructuralSchema } from './structural-schema.ts'

/** A field of a schema; `path` includes its parents, as in `cookies[].name`. */
export type Field = { readonly path: string; readonly schema: StructuralSchema; readonly required: boolean }

const below = (path: string, name: string) => (path === '' ? name : `${path}.${name}`)

/** A schema's fields in order, parents before children. */
export const listFields = (schema: StructuralSchema, path = ''): Field[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const field = { path: below(path, name), schema: each, required: schema.required?.includes(name) ?? false }
    const inner = each.items ? listFields(each.items, `${field.path}[]`) : listFields(each, field.path)
    return [field, ...inner]
  })

/** Escapes a text for a cell of a Markdown table. */
export const cell = (text: string): string => text.replaceAll('|', '\\|')

const renderRange = ({ minimum, maximum }: StructuralSchema) => {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`
  return minimum === undefined ? '' : `, at least ${minimum}`
}

/** Describes type and bounds of a value. */
export const renderKind = (schema: StructuralSchema): string => {
  const { type, maxLength, maxItems, maxProperties, additionalProperties } = schema
  if (schema.enum) return schema.enum.join(' | ')
  if (type === 'integer' || type === 'number') return `${type}${renderRange(schema)}`
  if (type === 'string') return maxLength === undefined ? 'text' : `text, at most ${maxLength} characters`
  if (type === 'array') return `list, at most ${maxItems}`
  if (additionalProperties) return `map of at most ${maxProperties} names to ${renderValue(additionalProperties)}`
  return type ?? ''
}

const renderValue = (schema: StructuralSchema) =>
  schema['x-kubernetes-int-or-string'] ? 'quantities' : renderKind(schema)

const renderDefault = ({ schema, required }: Field): string => {
  if (required) return 'required'
  if (schema.default === undefined || schema.properties) return ''
  return `\`${typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default)}\``
}

/** A field's table row: path, type, default and meaning. */
export const fieldRow = (field: Field, meaning = field.schema.description ?? ''): string =>
  `| \`${field.path}\` | ${cell(renderKind(field.schema))} | ${renderDefault(field)} | ${cell(meaning)} |`

/** A Markdown section with a table. */
export const table = (title: string, head: readonly string[], rows: readonly string[]): string =>
  [`## ${title}`, '', `| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows, ''].join('\n')
