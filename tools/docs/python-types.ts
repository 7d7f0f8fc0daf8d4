import { type ClientType, clientSchemas, type Field, mergeFields, nameIn, type Schema } from './client-schemas.ts'

const intro = `# Generated from docs/openapi.json by \`make docs\`.
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict
`

const scalars: Readonly<Record<string, string>> = {
  integer: 'int',
  number: 'float',
  string: 'str',
  boolean: 'bool',
  null: 'None',
}

const quoted = (text: string | null) => (text === null ? 'None' : `"${text}"`)

const capitalized = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1)

/** `pdf_margins` of a list of objects is a `PdfMargin`. */
const className = (field: string, isList: boolean) =>
  field
    .split('_')
    .map(capitalized)
    .join('')
    .replace(isList ? /s$/ : /$^/, '')

const comment = (text: string | undefined, indent: string) =>
  text === undefined ? '' : `${indent}"""${text.replaceAll('\\', '\\\\')}"""\n`

/** Renders types as `TypedDict`s; an object within an object becomes a class of its own, once. */
const createRenderer = () => {
  const classes = new Map<string, string>()

  const addNested = (name: string, schema: Schema) => {
    const type = { name, description: undefined, fields: mergeFields([schema]) }
    for (let next = name, number = 2; ; next = `${name}${number}`, number += 1) {
      const text = renderClass({ ...type, name: next })
      const known = classes.get(next)
      if (known === undefined) classes.set(next, text)
      if (known === undefined || known === text) return next
    }
  }
  const listTypes = (field: string, schema: Schema, isList = false): string[] => {
    const { items, properties, additionalProperties: values } = schema
    if (schema.$ref) return [nameIn(schema)]
    if (schema.const !== undefined) return [`Literal[${quoted(schema.const)}]`]
    if (schema.enum) return [`Literal[${schema.enum.map(quoted).join(', ')}]`]
    const variants = schema.oneOf ?? schema.anyOf
    if (variants) return uniteTypes(field, variants, isList)
    return [schema.type ?? 'Any'].flat().map((type) => {
      if (type === 'array') return `list[${items ? listTypes(field, items, true).join(' | ') : 'Any'}]`
      if (type !== 'object') return scalars[type] ?? type
      if (properties) return addNested(className(field, isList), schema)
      return `dict[str, ${typeof values === 'object' ? uniteTypes(field, [values]).join(' | ') : 'Any'}]`
    })
  }
  const uniteTypes = (field: string, schemas: readonly Schema[], isList = false) => [
    ...new Set(schemas.flatMap((schema) => listTypes(field, schema, isList))),
  ]
  const renderField = ({ name, optional, schemas, description }: Field) => {
    const type = uniteTypes(name, schemas).join(' | ')
    return `    ${name}: ${optional ? `NotRequired[${type}]` : type}\n${comment(description, '    ')}`
  }
  const renderClass = ({ name, description, fields }: ClientType): string =>
    `class ${name}(TypedDict):\n${comment(description, '    ')}${fields.map(renderField).join('')}`
  return { classes, add: (type: ClientType) => classes.set(type.name, renderClass(type)) }
}

/** The types of the Python client. */
export const pythonTypes = (openapi: string): string => {
  const { requests, options, responses } = clientSchemas(openapi)
  const renderer = createRenderer()
  for (const type of [...requests, ...options, ...responses]) renderer.add(type)
  return `${intro}${[...renderer.classes.values()].map((text) => `\n\n${text}`).join('')}`
}
