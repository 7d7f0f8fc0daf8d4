import { cell } from '#tools/docs/schema-table.ts'
import type { ChartValue } from './read-values.ts'

const intro = `# Shutterfleet for Kubernetes

A screenshot service: gateway, ledger, webhooks, controller, two egress filters, and pools of browser workers that the queue sizes.
Helm 3 and 4.

\`\`\`sh
# to try it out, with a PostgreSQL and a NATS server of its own
helm install shutterfleet charts/shutterfleet --namespace shutterfleet --create-namespace --set evaluation.enabled=true

# with yours: the names of their Secrets and their addresses, in a copy of that file
helm install shutterfleet charts/shutterfleet --namespace shutterfleet --create-namespace --values k8s/values/small.yaml
helm test shutterfleet --namespace shutterfleet
\`\`\`

How to prepare the cluster, sizes, ingress, network policies, upgrades: [docs/kubernetes.md](../../docs/kubernetes.md). The files in
\`ci/\` are examples of every value.

This page and \`values.schema.json\` are generated from the comments in \`values.yaml\` by \`make docs\`; \`make check\` fails where they
differ.

## Values
`

const renderCode = (value: unknown) => `\`${JSON.stringify(value)}\``

const renderRows = (values: readonly ChartValue[]): readonly string[] =>
  values.flatMap(({ path, help, value, values: below }) => {
    if (!below) return [`| \`${path.join('.')}\` | ${cell(renderCode(value))} | ${cell(help)} |`]
    return [...(help === '' ? [] : [`| \`${path.join('.')}\` | | ${cell(help)} |`]), ...renderRows(below)]
  })

/** The chart's README: every value with its default and its comment. */
export const chartReadme = (values: readonly ChartValue[]): string =>
  [intro, '| Value | Default | What it sets |', '|---|---|---|', ...renderRows(values), ''].join('\n')
