import { browserPoolSpec, browserPoolStatus, poolConditions } from '#shared/kube/browser-pool.ts'
import { cell, type Field, fieldRow, listFields, renderKind, table } from './schema-table.ts'
import { structuralSchema } from './structural-schema.ts'

const intro = `# BrowserPool

A pool of browser workers on Kubernetes is an object of the kind \`BrowserPool\` (\`shutterfleet.dev/v1beta1\`, short \`bp\`):

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
kubectl get bp                                    # status in one line; WAIT is in seconds
kubectl describe bp standard                      # conditions and events
kubectl explain bp.spec.autoscaling               # these tables, in the terminal
kubectl wait bp/standard --for=condition=Ready
kubectl patch bp standard --type=merge -p '{"spec":{"autoscaling":{"enabled":false}}}'
kubectl scale bp standard --replicas=5            # rejected while the queue sizes the pool
\`\`\`

An inconsistent spec is rejected on apply, with a message that names the field; see [Rules](#rules).

This page is generated from the code by \`make docs\`; \`make check\` fails if it differs.
`

const statusRow = ({ path, schema }: Field) =>
  `| \`${path}\` | ${cell(renderKind(schema))} | ${cell(schema.description ?? '')} |`

const ruleRows = ({ path, schema }: Field) =>
  (schema['x-kubernetes-validations'] ?? []).map(({ message }) => `| \`${path}\` | ${cell(message)} |`)

const conditionRow = ([type, { help, reasons }]: [string, { help: string; reasons: readonly string[] }]) =>
  `| \`${type}\` | ${help} | ${reasons.map((each) => `\`${each}\``).join(', ')} |`

/** The text of docs/browser-pool.md: every field, rule and condition of the kind. */
export const browserPoolPage = (): string => {
  const schema = structuralSchema(browserPoolSpec)
  const spec = listFields(schema)
  const status = listFields(structuralSchema(browserPoolStatus))
  return [
    intro,
    table(
      'spec',
      ['Field', 'Kind', 'Default', 'What it means'],
      spec.map((field) => fieldRow(field)),
    ),
    table('Rules', ['Of', 'Rule'], [{ path: 'spec', schema, required: true }, ...spec].flatMap(ruleRows)),
    table('status', ['Field', 'Kind', 'What it means'], status.map(statusRow)),
    table('Conditions', ['Type', 'True means', 'Reasons'], Object.entries(poolConditions).map(conditionRow)),
  ].join('\n')
}
