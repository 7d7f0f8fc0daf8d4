import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../../package.json'), 'utf8')) as {
  version: string
}
const fixture = resolve(import.meta.dirname, '../../../fixtures/idle-metrics.ts')

t.test('metrics: do not wake an idle process', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [fixture], { env: {} })
  t.ok(Number(stdout) < 40, `${stdout.trim()} times in a second`)
})

t.test('metrics: name the release and the version of Node', async (t) => {
  const text = await createMetrics('test').text()
  t.match(text, `shutterfleet_build_info{version="${version}",node="${process.versions.node}",service="test"} 1`)
})

t.test('metrics: report the utilization of the event loop', async (t) => {
  const text = await createMetrics('test').text()
  t.match(text, /^shutterfleet_event_loop_utilization_ratio\{service="test"\} [\d.e-]+$/m)
  t.notMatch(text, 'nodejs_eventloop_lag_p99')
})

const traceId = '0af7651916cd43dd8448eb211c80319c'
const table = {
  waits_seconds: { histogram: 'Waits', labels: ['queue'], buckets: [1, 10], hasExemplars: true },
  turns_seconds: { histogram: 'Turns', buckets: [1], hasExemplars: true },
  ends_total: { counter: 'Ends' },
} as const

const observed = async (withExemplars: boolean) => {
  const metrics = createMetrics('test', {}, { withExemplars })
  const { waits_seconds: waits, turns_seconds: turns, ends_total: ends } = metrics.declare(table)
  waits.observe({ queue: 'standard' }, 2, traceId)
  waits.observe({ queue: 'standard' }, 3)
  turns.observe(0.5, traceId)
  ends.inc()
  return { text: await metrics.text(), contentType: metrics.contentType }
}

t.test('metrics: with exemplars buckets of a histogram name a sampled trace, in the OpenMetrics format', async (t) => {
  const { text, contentType } = await observed(true)
  t.match(contentType, 'application/openmetrics-text')
  t.match(
    text,
    `shutterfleet_waits_seconds_bucket{le="10",service="test",queue="standard"} 2 # {trace_id="${traceId}"} 2 `,
  )
  t.match(text, `shutterfleet_turns_seconds_bucket{le="1",service="test"} 1 # {trace_id="${traceId}"} 0.5 `)
  t.match(text, 'shutterfleet_ends_total{service="test"} 1')
  t.match(text, /# EOF\n$/)
})

t.test('metrics: without exemplars the text is in the Prometheus format and names no trace', async (t) => {
  const { text, contentType } = await observed(false)
  t.match(contentType, 'text/plain; version=0.0.4')
  t.match(text, 'shutterfleet_waits_seconds_bucket{le="10",service="test",queue="standard"} 2\n')
  t.notMatch(text, traceId)
})
