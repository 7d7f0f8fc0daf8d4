import { once } from 'node:events'
import { rename } from 'node:fs/promises'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import type { Order, Outcome } from '#worker/protocol/protocol.ts'
import { createEvents } from '#worker/telemetry/events.ts'
import { createCanary, createPassed, warmUp } from '#worker/host/warm-up.ts'
import { createRecordingLog } from '#test/helpers/recording-log.ts'

t.test('canary: counts and reports each connection', async (t) => {
  const metrics = createMetrics('worker')
  const errors: string[] = []
  const log = createRecordingLog(({ level, message }) => level === 'error' && errors.push(message))
  const { server, connections } = createCanary(createEvents(log, metrics).canaryReached)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  t.match(await metrics.text(), /^shutterfleet_worker_canary_connections_total\{component="worker"\} 0$/m)
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(client, 'close')
  t.equal(connections(), 1)
  t.equal(errors.length, 1)
  t.match(await metrics.text(), /^shutterfleet_worker_canary_connections_total\{component="worker"\} 1$/m)
})

const shot = {
  bytes: Buffer.from(''),
  sha256: '',
  width: 1,
  height: 1,
  mimeType: '',
  targetStatus: undefined,
  finalUrl: undefined,
}
const completed: Outcome = { outcome: 'completed', shot: { ...shot, warnings: [] }, timings: {} }
const failed: Outcome = {
  outcome: 'failed',
  code: 'RENDER_ERROR',
  message: 'x',
  blame: 'service',
  detail: 'no browser',
  timings: {},
}

const shell = { browser: 'shell', startMs: 30_000 } as const

t.test('warm up: succeeds with a picture and no connection to the canary', async (t) => {
  let order: { online: boolean } | undefined
  await warmUp({ capture: async (of) => ((order = of), completed) }, { port: 1, connections: () => 3 }, shell)
  t.equal(order?.online, false)
})

t.test('warm up: has the time of a start, which no order has, to open its page and as much to load it', async (t) => {
  let [leftMs, timeout] = [0, 0]
  const capture = async ({ options }: Order, endsAt: number) => {
    leftMs = endsAt - performance.now()
    timeout = options.timeout
    return completed
  }
  await warmUp({ capture }, { port: 1, connections: () => 3 }, { browser: 'full', startMs: 120_000 })
  t.equal(timeout, 120)
  t.ok(leftMs > 239_000 && leftMs <= 260_000, String(leftMs))
})

t.test('warm up: rejects a host whose page reaches the canary', async (t) => {
  let connections = 0
  const leaking = { capture: async () => ((connections += 1), completed) }
  await t.rejects(warmUp(leaking, { port: 1, connections: () => connections }, shell), {
    code: 'SERVICE_UNAVAILABLE',
    message: /around/,
  })
})

t.test('warm up: rejects a host that returns no picture', async (t) => {
  await t.rejects(warmUp({ capture: async () => failed }, { port: 1, connections: () => 0 }, shell), {
    message: /no browser/,
  })
})

t.test('checks of a host: one that passes stands for later ones until the program is replaced', async (t) => {
  const program = join(t.testdir({ browser: 'one', update: 'another' }), 'browser')
  const passed = createPassed(program)
  const [first, beside] = [passed.read(), passed.read()]
  t.same([first.isPassed, beside.isPassed], [false, false])
  t.equal(passed.read().isPassed, false, 'none has passed yet')
  first.record()
  t.equal(passed.read().isPassed, true)
  await rename(join(t.testdirName, 'update'), program)
  beside.record()
  t.equal(passed.read().isPassed, false, 'what has passed was started before')
  passed.read().record()
  t.equal(passed.read().isPassed, true)
})
