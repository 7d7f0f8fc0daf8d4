import { browserPoolSpec, browserPoolStatus, poolConditions } from '#shared/kube/browser-pool.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'

const intro = `# BrowserPool

A pool of browser workers on Kubernetes is one object of the kind \`BrowserPool\` (\`shutterfleet.dev/v1beta1\`, short \`bp\`):

\`\`\`yaml
apiVersion: shutterfleet.dev/v1beta1
kind: BrowserPool
metadata:
  name: standard
spec:
  pool: standard
  autoscaling:
    minReplicas: 2
    maxReplicas: 20
    slots: 2
  template:
    resources:
      requests: { cpu: "2", memory: 1200Mi }
      limits: { memory: 1200Mi }
    nodeSelector: { kubernetes.io/arch: amd64 }
    topologySpreadConstraints:
      - topologyKey: topology.kubernetes.io/zone
\`\`\`

\`\`\`sh
kubectl get bp                                    # how it stands, in one line; WAIT is in seconds
kubectl describe bp standard                      # conditions and events
kubectl explain bp.spec.autoscaling               # these tables, in the terminal
kubectl wait bp/standard --for=condition=Ready
kubectl patch bp standard --type=merge -p '{"spec":{"autoscaling":{"enabled":false}}}'
kubectl scale bp standard --replicas=5            # refused while the queue sizes the pool
\`\`\`

What contradicts itself is refused when it is applied, with a message that names the field; see [Rules](#rules).

This page is generated from the code by \`make docs\`; \`make check\` fails where it differs.
`

type Field = { readonly path: string; readonly schema: StructuralSchema; readonly required: boolean }

const below = (path: string, name: string) => (path === '' ? name : `${path}.${name}`)

/** A schema's fields in reading order, each before what is below it. */
const fieldsOf = (schema: StructuralSchema, path = ''): Field[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const field = { path: below(path, name), schema: each, required: schema.required?.includes(name) ?? false }
    const inner = each.items ? fieldsOf(each.items, `${field.path}[]`) : fieldsOf(each, field.path)
    return [field, ...inner]
  })

const cell = (text: string) => text.replaceAll('|', '\\|')

const rangeOf = ({ minimum, maximum }: StructuralSchema) => {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`
  return minimum === undefined ? '' : `, at least ${minimum}`
}

const kindOf = (schema: StructuralSchema): string => {
  const { type, maxLength, maxItems, maxProperties, additionalProperties } = schema
  if (schema.enum) return schema.enum.join(' | ')
  if (type === 'integer') return `integer${rangeOf(schema)}`
  if (type === 'string') return maxLength === undefined ? 'text' : `text, at most ${maxLength} characters`
  if (type === 'array') return `list, at most ${maxItems}`
  if (additionalProperties) return `map of names to ${valueOf(additionalProperties)}, at most ${maxProperties}`
  return type ?? ''
}

const valueOf = (schema: StructuralSchema) => (schema['x-kubernetes-int-or-string'] ? 'quantities' : kindOf(schema))

const defaultOf = ({ schema, required }: Field): string => {
  if (required) return 'required'
  if (schema.default === undefined || schema.properties) return ''
  return `\`${typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default)}\``
}

const specRow = (field: Field) =>
  `| \`${field.path}\` | ${cell(kindOf(field.schema))} | ${defaultOf(field)} | ${cell(field.schema.description ?? '')} |`

const statusRow = ({ path, schema }: Field) =>
  `| \`${path}\` | ${cell(kindOf(schema))} | ${cell(schema.description ?? '')} |`

const ruleRows = ({ path, schema }: Field) =>
  (schema['x-kubernetes-validations'] ?? []).map(({ message }) => `| \`${path}\` | ${cell(message)} |`)

const conditionRow = ([type, { help, reasons }]: [string, { help: string; reasons: readonly string[] }]) =>
  `| \`${type}\` | ${help} | ${reasons.map((each) => `\`${each}\``).join(', ')} |`

const table = (title: string, head: readonly string[], rows: readonly string[]) =>
  [`## ${title}`, '', `| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows, ''].join('\n')

/** The text of docs/browser-pool.md: every field, rule and condition of the kind. */
export const browserPoolPage = (): string => {
  const schema = structuralSchema(browserPoolSpec)
  const spec = fieldsOf(schema)
  const status = fieldsOf(structuralSchema(browserPoolStatus))
  return [
    intro,
    table('spec', ['Field', 'Kind', 'Default', 'What it means'], spec.map(specRow)),
    table('Rules', ['Of', 'Rule'], [{ path: 'spec', schema, required: true }, ...spec].flatMap(ruleRows)),
    table('status', ['Field', 'Kind', 'What it means'], status.map(statusRow)),
    table('Conditions', ['Type', 'True means', 'Reasons'], Object.entries(poolConditions).map(conditionRow)),
  ].join('\n')
}
