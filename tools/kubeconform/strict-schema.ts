/** A JSON schema, or a part of one. */
export type Schema = { readonly [name: string]: unknown }

type GroupVersionKind = { readonly group: string; readonly version: string; readonly kind: string }

/** Name of the file with the schema of a kind, without extension. kubeconform takes the version for the group of the core. */
export const pathToDefinition = ({ group, version, kind }: GroupVersionKind): string =>
  `${group || version}_${version}_${kind.toLowerCase()}`

/** Text for people, and what validators of JSON do not know. */
const isIgnored = (name: string) => /^(description|default|format|example|x-kubernetes-.*)$/.test(name)

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Converts each schema of a map whose keys are names of fields. */
const convertAll = (schemas: Schema): Schema =>
  Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, convert(each)]))

const convert = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(convert)
  return isSchema(value) ? strictSchema(value) : value
}

/** A schema of OpenAPI as one of JSON that allows only the listed fields of each object. */
export const strictSchema = (schema: Schema): Schema => {
  const entries = Object.entries(schema).flatMap(([name, value]) => {
    if (isIgnored(name)) return []
    if (name === 'properties' && isSchema(value)) return [[name, convertAll(value)]]
    if (name === '$ref' && typeof value === 'string')
      return [[name, value.replace('#/components/schemas/', '#/definitions/')]]
    return [[name, convert(value)]]
  })
  const isOpen = schema['additionalProperties'] !== undefined || schema['x-kubernetes-preserve-unknown-fields'] === true
  const isClosed = isSchema(schema['properties']) && !isOpen && isObject(schema)
  return { ...Object.fromEntries(entries), ...(isClosed && { additionalProperties: false }) }
}

/** Parts of `allOf`, `anyOf` and `not` have no type: they list conditions, not fields. */
const isObject = ({ type }: Schema): boolean => type === 'object'
