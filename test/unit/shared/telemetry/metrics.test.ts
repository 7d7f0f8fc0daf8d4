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
  t.match(text, `shutterfleet_build_info{version="${version}",nodejs="${process.versions.node}",component="test"} 1`)
})

t.test('metrics: report the utilization of the event loop', async (t) => {
  const text = await createMetrics('test').text()
  t.match(text, /^shutterfleet_event_loop_utilization_ratio\{component="test"\} [\d.e-]+$/m)
  t.notMatch(text, 'nodejs_eventloop_lag_p99')
})

const traceId = '0af7651916cd43dd8448eb211c80319c'
const table = {
  waits_seconds: { histogram: 'Waits', labels: ['queue'], buckets: [1, 10], hasExemplars: true },
  turns_seconds: { histogram: 'Turns', buckets: [1], hasExemplars: true },
  ends_total: { counter: 'Ends' },
} as const

/** As Prometheus sends it. */
const accepts = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'

const observed = async (withExemplars: boolean) => {
  const metrics = createMetrics('test', {}, { withExemplars })
  const { waits_seconds: waits, turns_seconds: turns, ends_total: ends } = metrics.declare(table)
  waits.observe({ queue: 'standard' }, 2, traceId)
  waits.observe({ queue: 'standard' }, 3)
  turns.observe(0.5, traceId)
  ends.inc()
  const scrape = async (accept?: string) => ({ text: await metrics.text(accept), type: metrics.contentType(accept) })
  return { scrape, ends }
}

const plainBucket = 'shutterfleet_waits_seconds_bucket{le="10",component="test",queue="standard"} 2\n'

t.test('metrics: with exemplars buckets of a histogram name a sampled trace, in the OpenMetrics format', async (t) => {
  const { scrape } = await observed(true)
  const { text, type } = await scrape(accepts)
  t.match(type, 'application/openmetrics-text')
  t.match(
    text,
    `shutterfleet_waits_seconds_bucket{le="10",component="test",queue="standard"} 2 # {trace_id="${traceId}"} 2 `,
  )
  t.match(text, `shutterfleet_turns_seconds_bucket{le="1",component="test"} 1 # {trace_id="${traceId}"} 0.5 `)
  t.match(text, '# TYPE shutterfleet_ends counter\nshutterfleet_ends_total{component="test"} 1')
  t.match(text, /# EOF\n$/)
})

t.test("metrics: who does not accept OpenMetrics gets Prometheus' format, also between two who do", async (t) => {
  const { scrape, ends } = await observed(true)
  await scrape(accepts)
  ends.inc()
  const { text, type } = await scrape('text/plain')
  t.match(type, 'text/plain; version=0.0.4')
  t.match(text, plainBucket)
  t.match(text, '# TYPE shutterfleet_ends_total counter\nshutterfleet_ends_total{component="test"} 2\n')
  t.notMatch(text, traceId)
  t.match((await scrape(accepts)).text, 'shutterfleet_ends_total{component="test"} 2')
})

t.test('metrics: without exemplars the text is in the Prometheus format for everybody', async (t) => {
  const { scrape } = await observed(false)
  const { text, type } = await scrape(accepts)
  t.match(type, 'text/plain; version=0.0.4')
  t.match(text, plainBucket)
  t.notMatch(text, traceId)
})
