import t from 'tap'
import { observability } from './checks/observability.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

const docs = 'docs/metrics.md'
const rules = 'charts/shutterfleet/files/rules/x.yaml'
const dashboard = 'charts/shutterfleet/files/dashboards/x.json'
const page = 'docs/runbooks/down.md'
const cases = 'test/fixtures/rules/x.test.yaml'
const alert = `groups:
  - name: x
    rules:
      - alert: Down
        expr: shutterfleet_things_total > 0
        labels:
          severity: critical
        annotations:
          summary: Down
          description: It is down
          runbook_url: ${page}
`
const tree = {
  [docs]:
    '| `shutterfleet_things_total` | counter | | Things |\n| `shutterfleet_time_seconds` | histogram | | Time |\n',
  [rules]: alert,
  [dashboard]: '{ "expr": "rate(shutterfleet_time_seconds_bucket[5m]) + shutterfleet:faults:ratio" }\n',
  [page]:
    '# Down\n\n## Meaning\n\n## Diagnosis\n\n## Remedy\n\n## What callers see\n\n## When to wake somebody\nNow.\n',
  [cases]: '        alertname: Down\n',
}
const planted = (name: string, path: keyof typeof tree, [from, to]: readonly [string, string], at: string) => ({
  name,
  tree: { ...tree, [path]: tree[path]?.replace(from, to) ?? '' },
  at: [at],
})

await testCheck(t, {
  check: observability,
  real: () => observability(readTree('')),
  bad: [
    planted('a rule with an unknown metric', rules, ['things_total', 'thing_total'], `${rules}:5`),
    planted('a dashboard with an unknown metric', dashboard, ['time_seconds', 'times_seconds'], `${dashboard}:1`),
    planted('a histogram that is queried as a gauge', dashboard, ['_bucket', ''], `${dashboard}:1`),
    planted('an alert without a severity', rules, ['severity: critical', 'team: x'], `${rules}:4`),
    planted('a critical alert whose runbook waits for the morning', page, ['Now.', 'In the morning.'], `${rules}:4`),
    planted('a warning whose runbook wakes somebody', rules, ['severity: critical', 'severity: warning'], `${rules}:4`),
    planted('a rule by a label that scrapers set', rules, ['total >', 'total{service="x"} >'], `${rules}:5`),
    planted('a metric with a label that scrapers set', docs, ['counter | |', 'counter | `service` |'], `${docs}:1`),
    planted('an alert without a case', cases, ['Down', 'Up'], `${rules}:4`),
    planted('an alert without a description', rules, ['description: It', 'comment: It'], `${rules}:4`),
    planted('a runbook that does not say when to wake somebody', page, ['wake somebody', 'sleep'], `${page}:1`),
    {
      name: 'an alert whose runbook is missing, and a runbook without an alert',
      tree: { ...tree, [rules]: alert.replace('down.md', 'up.md') },
      at: [`${rules}:4`, `${page}:1`],
    },
  ],
  good: [
    { name: 'rules, dashboards and runbooks that match', tree },
    {
      name: 'a runbook of two alerts that names when each wakes somebody',
      tree: {
        ...tree,
        [rules]: `${alert}${alert.slice(alert.indexOf('      - alert')).replaceAll('Down', 'Slow').replace('critical', 'warning')}`,
        [page]: tree[page].replace('Now.', '- `Down`: now.\n- `Slow`: in the morning.'),
        [cases]: `${tree[cases]}${tree[cases].replace('Down', 'Slow')}`,
      },
    },
  ],
})
