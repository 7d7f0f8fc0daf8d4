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
