import { markup, type Html, raw } from './markup.ts'
import { type JsonSchema, textAt } from './json-schema.ts'
import type { OpenapiDocument } from './document.ts'
import { code } from './prose.ts'

/** A parameter or a field with its schema. */
export type Row = {
  readonly name: string
  readonly isRequired: boolean
  /** Where it stands, if that is not plain. */
  readonly note?: string
  readonly schema: JsonSchema
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const typeOf = (schema: JsonSchema): Html => {
  const { $ref, type, items, const: only, oneOf, anyOf } = schema
  if (typeof $ref === 'string') return refOf($ref)
  if (only !== undefined) return markup`<code>${JSON.stringify(only)}</code>`
  const choices = [...listed(oneOf), ...listed(anyOf)] as JsonSchema[]
  if (choices.length > 0)
    return markup`${choices.map((each, index) => markup`${index > 0 ? ' or ' : ''}${typeOf(each)}`)}`
  if (type === 'array') return markup`list of ${typeOf((items ?? {}) as JsonSchema)}`
  return markup`${(Array.isArray(type) ? (type as string[]) : [typeof type === 'string' ? type : 'any']).join(' or ')}`
}

const refOf = (ref: string): Html => {
  const name = ref.split('/').at(-1) ?? ''
  return markup`<a href="#schema-${name}">${name}</a>`
}

const rangeOf = ({ minimum, maximum }: Readonly<Record<string, number | undefined>>): string[] => {
  if (minimum !== undefined && maximum !== undefined) return [`${minimum} to ${maximum}`]
  return minimum === undefined || minimum === 0 ? [] : [`from ${minimum}`]
}

const boundsOf = (schema: JsonSchema): string[] => {
  const bounds = schema as Readonly<Record<string, number | undefined>>
  const { maxLength, maxItems, maxProperties } = bounds
  return [
    ...rangeOf(bounds),
    ...(maxLength === undefined ? [] : [`at most ${maxLength.toLocaleString('en')} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(maxProperties === undefined ? [] : [`at most ${maxProperties}`]),
  ]
}

const detailsOf = (schema: JsonSchema): Html => {
  const values = listed(schema['enum'])
  const bounds = boundsOf(schema)
  return markup`${values.length > 0 ? markup`<span class="values">${values.map((each) => markup`<code>${String(each)}</code> `)}</span>` : raw('')}
  ${bounds.length > 0 ? markup`<span class="bound">${bounds.join(', ')}</span>` : raw('')}
  ${schema['default'] === undefined ? raw('') : markup`<span class="bound">default <code>${defaultText(schema['default'])}</code></span>`}`
}

const defaultText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const fieldsOf = (schema: JsonSchema): Row[] => {
  const inner = (schema['type'] === 'array' ? schema['items'] : schema) as JsonSchema | undefined
  const required = listed(inner?.['required'])
  return Object.entries((inner?.['properties'] ?? {}) as Record<string, JsonSchema>).map(([name, each]) => ({
    name,
    isRequired: required.includes(name),
    schema: each,
  }))
}

const rowOf = (document: OpenapiDocument, { name, isRequired, note, schema }: Row): Html => {
  const said = textAt(schema, 'description')
  const fields = fieldsOf(schema)
  return markup`<tr>
    <td>
      <code class="name">${name}</code
      >${isRequired ? markup`<em>required</em>` : raw('')}${note && note !== 'query' ? markup`<small>${note}</small>` : raw('')}
    </td>
    <td class="kind">${typeOf(schema)}</td>
    <td>
      ${code(said)} ${detailsOf(schema)}
      ${
        fields.length > 0
          ? markup`<details>
              <summary>Fields</summary>
              ${fieldsTable(document, fields)}
            </details>`
          : raw('')
      }
    </td>
  </tr>`
}

/** A table of parameters or fields, with types, bounds and defaults. */
export const fieldsTable = (document: OpenapiDocument, rows: readonly Row[]): Html =>
  rows.length === 0
    ? raw('')
    : markup`<div class="table">
        <table>
          ${rows.map((row) => rowOf(document, row))}
        </table>
      </div>`
