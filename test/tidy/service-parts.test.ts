import t from 'tap'
import { services } from '#shared/config/services.ts'
import { serviceParts } from './checks/service-parts.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

const register = 'services/shared/config/services.ts:1'
const template = 'charts/shutterfleet/templates/toy.yaml'
const tree = {
  'services/toy/main.ts': 'export {}',
  'tools/docs/metrics-page.ts': `import { createEvents } from '#toy/telemetry/events.ts'`,
  'docs/one-machine.md': '| Process | Does |\n| toy | plays |\n',
  [template]: '"component" "toy" "traced" true "args" (list "node" "services/toy/main.js")',
}
const without = (path: string) => Object.fromEntries(Object.entries(tree).filter(([each]) => each !== path))

await testCheck(t, {
  check: (files) => serviceParts(files, { toy: { program: 'toy/main', sendsSpans: true } }),
  real: () => serviceParts(readTree(''), services),
  bad: [
    ...['services/toy/main.ts', 'tools/docs/metrics-page.ts', 'docs/one-machine.md'].map((path) => ({
      name: `a service without ${path}`,
      tree: without(path),
      at: [register],
    })),
    { name: 'a service that the chart does not start', tree: without(template), at: [register, register] },
    {
      name: 'a service whose spans the chart does not configure',
      tree: { ...tree, [template]: tree[template]?.replace(' "traced" true', '') ?? '' },
      at: [register],
    },
  ],
  good: [{ name: 'a service with all its parts', tree }],
})
