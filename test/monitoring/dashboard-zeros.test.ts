import { createServer } from 'node:http'
import t from 'tap'
import { readDashboards } from '#test/helpers/dashboard-queries.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPrometheus } from '#test/helpers/prometheus.ts'

t.test('dashboards: none is shown for a namespace that is scraped, and nothing for another one', async (t) => {
  await using idle = await listening(
    createServer((_, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4')
      response.end('shutterfleet_event_loop_utilization_ratio{component="gateway",namespace="idle"} 0.1\n')
    }),
  )
  await using prometheus = await startPrometheus([`127.0.0.1:${idle.port}`])
  const queries = [true, false]
    .flatMap((isKubernetes) => readDashboards({ isKubernetes }))
    .flatMap(({ panels }) => panels.flatMap((panel) => panel.queries.map(({ expr }) => expr)))
    .filter((expr) => expr.includes('"none"'))
  t.ok(queries.length > 20, `${queries.length} queries`)
  const shown = async (expr: string, namespace: string) => {
    const series = await prometheus.query(expr.replaceAll('namespace=~".*"', `namespace="${namespace}"`), 1)
    return series.map(({ metric, values }) => [Object.values(metric).join(), values.at(-1)?.[1]])
  }
  const [first = ''] = queries
  await eventually(async () => (await shown(first, 'idle')).length > 0, { what: 'a sample' })
  for (const expr of queries) {
    t.strictSame(await shown(expr, 'idle'), [['none', '0']], expr)
    t.strictSame(await shown(expr, 'elsewhere'), [], expr)
  }
})
