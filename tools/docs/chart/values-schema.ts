import { prefix } from '#shared/config/read-env.ts'
import { clusterSettings, serviceNames } from '#shared/config/services.ts'
import { browserPoolSpec } from '#shared/kube/browser-pool.ts'
import { type StructuralSchema, structuralSchema } from '#tools/docs/structural-schema.ts'
import type { ChartValue } from './read-values.ts'

type Schema = Readonly<Record<string, unknown>>

/** Settings that the chart does not offer, because its Roles would have to change with them. */
const excluded = ['JOBS_NAMESPACE', 'KUBECONFIG']
/** The settings of a service that chart users may set: neither secret nor named in a template. */
const freeSettings = (service: string, templates: string): readonly string[] => {
  // What a template reads of `settings` stays one.
  const named = templates.replaceAll(/settings "[A-Z_]+"/g, '').match(/\b[A-Z][A-Z\d_]+\b/g) ?? []
  const decided = new Set([...excluded, ...named.map((name) => name.replace(prefix, ''))])
  const known = serviceNames.find((each) => each === service)
  if (known === undefined) throw new Error(`${service} is no service`)
  return Object.values(clusterSettings(known))
    .filter(({ name, secret }) => !decided.has(name) && !secret)
    .map(({ name }) => name)
}

/** A schema of Kubernetes in which nothing is required, null removes a field, and unknown fields are errors. */
const partial = (schema: StructuralSchema): Schema => {
  const { type, properties, items, additionalProperties, enum: values, pattern, minimum, maximum } = schema
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return { type: [type, 'null'] }
  return {
    type: schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string', 'null'] : [type, 'null'],
    ...(values && { enum: [...values, null] }),
    ...(pattern !== undefined && { pattern }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(items && { items: partial(items) }),
    ...(additionalProperties && { additionalProperties: partial(additionalProperties) }),
    ...(properties && {
      additionalProperties: false,
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, partial(each)])),
    }),
  }
}

/** The JSON Schema of the chart's values; rejects unknown names and other types. */
export const valuesSchema = (values: readonly ChartValue[], templates: string): string => {
  const objectSchema = (each: readonly ChartValue[]): Schema => ({
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(each.map((value) => [value.path.at(-1), valueSchema(value)])),
  })
  const valueSchema = ({ schema: { settings, ...schema }, help, value, values: below }: ChartValue): Schema => {
    const description = help === '' ? {} : { description: help }
    if (below) return { ...description, ...objectSchema(below) }
    if (typeof settings === 'string') {
      // Not `propertyNames`, of which Helm reports another path (santhosh-tekuri/jsonschema).
      const names = freeSettings(settings, templates).toSorted()
      const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
      return { ...description, type: 'object', additionalProperties: false, properties }
    }
    return { ...description, ...inferType(value, schema), ...schema }
  }
  const root = objectSchema(values)
  // What charts that depend on this one pass on: values for all, and the `condition` of the dependency.
  const fromParents = { global: { type: 'object' }, enabled: { type: 'boolean' } }
  const properties = { ...(root['properties'] as Schema), ...fromParents }
  const definitions = { browserPoolSpec: partial(structuralSchema(browserPoolSpec)) }
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...root, properties, definitions }
  return `${JSON.stringify(schema, null, 2)}\n`
}

const inferType = (value: unknown, schema: Schema): Schema => {
  if (typeof value === 'boolean') return { type: 'boolean' }
  if (typeof value === 'number') return { type: 'integer', minimum: 0 }
  if (typeof value === 'string') return { type: 'string' }
  if (Array.isArray(value)) return { type: 'array' }
  if (typeof value !== 'object' || value === null) throw new Error('a value has no default')
  if ('additionalProperties' in schema) return { type: 'object' }
  const properties = Object.entries(value).map(([name, each]) => [name, inferType(each, {})])
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) }
}
