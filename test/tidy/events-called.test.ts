import t from 'tap'
import { eventsCalled } from './checks/events-called.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const path = 'services/ledger/telemetry/events.ts'
const declared = `export const createEvents = () => ({
    stopping: () => log.info('stopping'),
    ended: (end: End) => {
      count.inc(end)
    },
})
`

const table = `const metricTable = {
  a_total: { counter: 'A', labels: ['end'] },
  b_total: {
    counter: 'B',
  },
} as const satisfies MetricTable
`

await testCheck(t, {
  check: eventsCalled,
  real: () => eventsCalled(readSources()),
  bad: [
    {
      name: 'an event that is never called',
      tree: { [path]: declared, 'services/ledger/loop.ts': 'events.stopping()' },
      at: [`${path}:3`],
    },
    {
      name: 'an event that only a test calls',
      tree: { [path]: declared, 'services/ledger/loop.ts': 'events.stopping()', 'test/a.test.ts': 'events.ended()' },
      at: [`${path}:3`],
    },
    {
      name: 'a metric that no event sets',
      tree: { [path]: `${table}metric.a_total.inc({ end })` },
      at: [`${path}:3`],
    },
  ],
  good: [
    { name: 'metrics that are set', tree: { [path]: `${table}metric.a_total.inc({ end })\nshow(metric.b_total)` } },
    {
      name: 'events that are called or passed on',
      tree: {
        [path]: declared,
        'services/ledger/loop.ts': "const { stopping } = events\nstopping()\nlog(events['ended'])",
      },
    },
  ],
})
