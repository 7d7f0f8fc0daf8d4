import { captureSchema } from '#gateway/openapi/capture-parameters.ts'
import { documented } from '#gateway/openapi/schema/document-schema.ts'
import { featureOfParameter } from '#shared/capture/features.ts'
import type { ParameterName } from '#shared/capture/options.ts'
import { parameterGroups } from '#shared/capture/parameters.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'

/** Longer texts are edited in several lines. */
const lineCharacters = 500
const urlCharacters = 2048
const scalars = new Set(['integer', 'number', 'boolean'])

const kindOf = ({ type, enum: values, items, maxLength = 0 }: StructuralSchema): string => {
  if (values) return 'choice'
  if (items?.enum) return 'choices'
  if (items?.type === 'string') return 'lines'
  if (type === 'string') return maxLength > lineCharacters && maxLength !== urlCharacters ? 'text' : 'line'
  return type !== undefined && scalars.has(type) ? type : 'json'
}

/** The playground's controls, one for each capture parameter in the order of their groups, from the schema of the API. */
export const consoleControls = (): string => {
  const { properties = {} } = structuralSchema(documented(captureSchema))
  const controls = Object.entries(parameterGroups).flatMap(([group, parameters]) =>
    (Object.keys(parameters) as ParameterName[]).flatMap((name) => {
      const schema = properties[name]
      // The console requests records; webhooks are configured in a view of their own.
      if (schema === undefined || name === 'response_type') return []
      const { default: initial, minimum, maximum, maxLength, maxItems, description } = schema
      const values = schema.enum ?? schema.items?.enum
      const feature = featureOfParameter[name]
      const bounds = { minimum, maximum, maxLength, maxItems }
      return [{ name, group, kind: kindOf(schema), values, default: initial, ...bounds, feature, description }]
    }),
  )
  return `[\n${controls.map((control) => JSON.stringify(control)).join(',\n')}\n]\n`
}
