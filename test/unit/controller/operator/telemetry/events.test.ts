import t from 'tap'
import { createOperatorEvents } from '#controller/operator/telemetry/events.ts'
import type { BrowserPool, BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import { KubeError } from '#shared/kube/kube-error.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createRecordingLog } from '#test/helpers/recording-log.ts'

const pods = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' }

const setUp = () => {
  const metrics = createMetrics('controller')
  const lines: string[] = []
  const logger = createRecordingLog(({ level, fields, message }) =>
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
  )
  const value = async (name: string) =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith(`shutterfleet_${name}`))
      .map((line) => line.replace(/,?component="controller"/, ''))
  return { events: createOperatorEvents(logger, metrics), value, lines }
}

t.test('operator events: exports whether this process leads', async (t) => {
  const { events, value } = setUp()
  t.match(await value('operator_leads'), [/ 0$/])
  events.termBegan()
  t.match(await value('operator_leads'), [/ 1$/])
  events.termEnded()
  t.match(await value('operator_leads'), [/ 0$/])
})

t.test(
  'operator events: exports the conditions of each pool with their reason, and none of a deleted pool',
  async (t) => {
    const { events, value } = setUp()
    const web = { metadata: { name: 'web' }, spec: { pool: 'standard' } } as BrowserPool
    const status = (reason: string) =>
      ({
        conditions: [{ type: 'Degraded', status: reason === 'AsExpected' ? 'False' : 'True', reason }],
      }) as BrowserPoolStatus
    events.statusReported(web, status('AsExpected'))
    t.match(await value('operator_pool_condition'), [
      /queue="standard",browserpool="web",condition="Degraded",reason="AsExpected"\} 0$/,
    ])
    events.statusReported(web, status('ImagePull'))
    t.match(await value('operator_pool_condition'), [/browserpool="web",condition="Degraded",reason="ImagePull"\} 1$/])
    events.statusReported(web, undefined)
    t.strictSame(await value('operator_pool_condition'), [])
  },
)

t.test('operator events: counts ended watches; only failed ones are a warning', async (t) => {
  const { events, value, lines } = setUp()
  const { listed, ended } = events.reflectionOf(pods)
  listed(3)
  ended('closed', 500)
  ended('failed', 500, new KubeError('unavailable', { message: 'reset' }))
  t.match(await value('operator_watches_ended_total'), [/end="closed"\} 1$/, /end="failed"\} 1$/])
  t.match(await value('operator_lists_total'), [/kind="Pod"\} 1$/])
  t.match(lines, [/^debug listed/, /^debug watch closed/, /^warn watch failed.*reset/])
})

t.test('operator events: counts failures by kind, and logs them with their cause', async (t) => {
  const { events, value, lines } = setUp()
  const error = new KubeError('forbidden', { message: 'not allowed' })
  events.electionFailed(error)
  events.applyFailed('web', error, 5)
  events.statusFailed('web', error)
  t.equal((await value('operator_failures_total')).length, 3)
  t.match(lines[1], /^warn apply failed.*"pool":"web".*not allowed.*forbidden/)
})

t.test('operator events: counts and times requests to the API server', async (t) => {
  const { events, value } = setUp()
  events.requested({ method: 'GET', resource: 'pods', code: '200', ms: 40 })
  t.match(await value('operator_api_requests_total'), [/method="GET",resource="pods",code="200"\} 1$/])
  t.match(await value('operator_api_request_seconds_sum'), [/method="GET"\} 0.04$/])
})

t.test('operator events: logs an occurrence of a pool with its note', async (t) => {
  const { events, lines } = setUp()
  events.occurred('web', { type: 'Warning', reason: 'ImagePull', action: 'Degrade', note: 'no image' })
  events.occurred('web', { type: 'Normal', reason: 'ScaledUp', action: 'ScaleUp', note: 'From 1 to 2 workers.' })
  t.match(lines, [/^warn ImagePull .*no image/, /^info ScaledUp .*From 1 to 2/])
})

t.test('operator events: exports captures waiting in an unserved queue, and logs its reason once', async (t) => {
  const { events, value, lines } = setUp()
  const shown = async () => (await value('operator_queue_unserved_captures')).filter((line) => !line.endsWith(' 0'))
  events.queueChecked('stealth', 'no-pool', 0)
  t.strictSame([await shown(), lines], [[], []])
  for (const waiting of [3, 4]) events.queueChecked('stealth', 'no-pool', waiting)
  t.match(await shown(), [/reason="no-pool"\} 4$/])
  t.match(lines, [/^warn queue is not served.*"queue":"stealth"/])
  events.queueChecked('stealth', undefined, 4)
  t.strictSame(await shown(), [])
  t.equal(lines.length, 1)
})

t.test(
  'operator events: a former leader exports no queues, and logs their reasons again as a new leader',
  async (t) => {
    const { events, value, lines } = setUp()
    const look = () => events.queueChecked('stealth', 'no-pool', 3)
    look()
    events.termEnded()
    t.strictSame(await value('operator_queue_unserved_captures'), [])
    look()
    t.equal(lines.filter((line) => line.startsWith('warn queue is not served')).length, 2)
  },
)
