import { mock } from 'node:test'
import t from 'tap'
import { readOpeningKey } from '#shared/queue/seal.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { testRecords } from '#test/helpers/record-seal.ts'
import { openingKeyText } from '#test/helpers/webhook-sender.ts'
import { runSender } from '#webhooks/sender.ts'
import { createEvents } from '#webhooks/telemetry/events.ts'

const settled = () => new Promise((resume) => setImmediate(resume))
const neverTried = async () => 'not_tried' as const

t.test('sender: at rest it looks for deliveries after the lease of one that died, at the latest', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const stop = new AbortController()
  let statements = 0
  const query = async () => {
    statements += 1
    return []
  }
  const running = runSender(
    {
      database: { query, subscribe: () => ({ isListening: () => true, [Symbol.dispose]: () => {} }) },
      openingKeys: [readOpeningKey(openingKeyText)],
      records: testRecords,
      publicUrl: 'https://shots.example',
      events: createEvents(createLogger({ service: 'test', level: 'error' }), createMetrics('test')),
      attempt: neverTried,
      upload: neverTried,
      retryDelaysMs: [],
      inFlightMax: 1,
      leaseMs: 10_000,
      idleMs: 5000,
      rest: { markBusy: () => {}, pace: () => 25_000 },
      now: () => new Date(),
      random: () => 0,
    },
    stop.signal,
    0,
  )
  const statementsBy = async (ms: number) => {
    mock.timers.tick(ms)
    for (let turn = 0; turn < 20; turn += 1) await settled()
    return statements
  }
  await statementsBy(0)
  const first = await statementsBy(100)
  t.equal(await statementsBy(9000), first)
  t.ok((await statementsBy(1000)) > first)
  stop.abort()
  mock.timers.reset()
  await running
})
