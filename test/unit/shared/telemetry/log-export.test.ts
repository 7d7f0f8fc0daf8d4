import { resourceFromAttributes } from '@opentelemetry/resources'
import t from 'tap'
import { LogExport, type LogRecord } from '#shared/telemetry/log-export.ts'

const record = (body: string): LogRecord => ({
  at: new Date(1_750_000_000_123),
  eventName: 'shutterfleet.activity',
  severity: 'INFO',
  body,
  attributes: { 'shutterfleet.operation': 'create' },
})

const records = (count: number) => Array.from({ length: count }, (_, index) => record(String(index)))

type Sent = { readonly body?: unknown; readonly hrTime: readonly number[] }

/** A receiver that takes a batch once `answer` is called. */
const startExport = () => {
  const batches: (readonly Sent[])[] = []
  const answers: ((result: { code: number; error?: Error }) => void)[] = []
  const counted = { sent: 0, lost: 0, causes: [] as (string | undefined)[] }
  const exported = new LogExport({
    exporter: {
      export: (batch, done) => {
        batches.push(batch)
        answers.push(done)
      },
      shutdown: async () => {},
    },
    resource: resourceFromAttributes({ 'service.name': 'test' }),
    sent: (count) => (counted.sent += count),
    lost: (count, cause) => {
      counted.lost += count
      counted.causes.push(cause?.message)
    },
  })
  const answer = async (error?: Error) => {
    answers.shift()?.(error ? { code: 1, error } : { code: 0 })
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { exported, batches, counted, answer }
}

t.test('log export: sends a batch at a time, in order, with the time of each record', async (t) => {
  const { exported, batches, counted, answer } = startExport()
  exported.send([])
  exported.send(records(1200))
  t.equal(batches.length, 1, 'the next one waits for the receiver')
  for (let batch = 0; batch < 3; batch += 1) await answer()
  t.same(
    batches.map((batch) => batch.length),
    [500, 500, 200],
  )
  t.same(
    batches.flat().map(({ body }) => body),
    records(1200).map(({ body }) => body),
  )
  t.same(batches[0]?.[0]?.hrTime, [1_750_000_000, 123_000_000])
  exported.send(records(1))
  await answer()
  t.same(counted, { sent: 1201, lost: 0, causes: [] })
})

t.test(
  'log export: with a receiver that hangs, 10,000 records wait and further ones are counted as lost',
  async (t) => {
    const { exported, batches, counted } = startExport()
    for (let nth = 0; nth < 12; nth += 1) exported.send(records(1000))
    t.equal(batches.length, 1)
    t.same(counted, { sent: 0, lost: 1500, causes: [undefined, undefined] })
  },
)

t.test('log export: a batch that the receiver refuses is counted as lost, and the next one is sent', async (t) => {
  const { exported, counted, answer } = startExport()
  exported.send(records(600))
  await answer(new Error('503'))
  await answer()
  t.same(counted, { sent: 100, lost: 500, causes: ['503'] })
})

t.test('log export: disposing sends what waits', async (t) => {
  const { exported, counted, answer } = startExport()
  exported.send(records(600))
  const disposed = exported[Symbol.asyncDispose]()
  for (let batch = 0; batch < 2; batch += 1) await answer()
  await disposed
  t.same(counted, { sent: 600, lost: 0, causes: [] })
})
