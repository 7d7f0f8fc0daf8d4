import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { Rest } from '#shared/process/rest.ts'
import { createStoreEvents, createStoreWatch } from '#shared/process/store-watch.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createRecordingLog } from '#test/helpers/recording-log.ts'

const rest = new Rest()

/** Events that record log lines, and the text of their metrics. */
const recordEvents = () => {
  const lines: string[] = []
  const metrics = createMetrics('test')
  const events = createStoreEvents(
    createRecordingLog(({ message }) => lines.push(message)),
    metrics,
  )
  return { events, lines, text: metrics.text }
}

t.test(
  'store watch: is down before the first probe, and names each store with the reason of its failure',
  async (t) => {
    const { events, text } = recordEvents()
    using watch = createStoreWatch(
      events,
      {
        postgresql: async () => {},
        nats: async () => {
          throw new Error('no space left on device')
        },
      },
      { rest },
    )
    t.equal(watch.areUp(), false)
    t.same(watch.detail(), { postgresql: 'not probed yet', nats: 'not probed yet' })
    watch.start()
    await eventually(() => watch.detail()['postgresql'] === 'ok')
    t.same(watch.detail(), { postgresql: 'ok', nats: 'refuses writes: no space left on device' })
    t.equal(watch.areUp(), false)
    t.match(await text(), 'store_up{store="nats",component="test"} 0')
    t.match(await text(), 'store_up{store="postgresql",component="test"} 1')
    t.match(await text(), 'store_probe_failures_total{store="nats",component="test"} 1')
  },
)

t.test('store watch: an outage is logged once, and its end once', async (t) => {
  const { events, lines } = recordEvents()
  const failure = new AppError('SERVICE_UNAVAILABLE')
  for (const each of [undefined, failure, failure, undefined, undefined]) events.storeProbed('nats', each)
  t.same(lines, ['store refuses writes, not ready until it accepts them', 'store accepts writes again'])
})

t.test('store watch: a write without an end fails repeatedly, and no other is sent until it has ended', async (t) => {
  const writes: PromiseWithResolvers<void>[] = []
  const results: string[] = []
  const probe = () => {
    const write = Promise.withResolvers<void>()
    writes.push(write)
    return write.promise
  }
  const storeProbed = (_store: string, failure: AppError | undefined) => void results.push(failure?.message ?? 'ok')
  using watch = createStoreWatch({ storeProbed }, { nats: probe }, { rest, boundMs: 20 })
  watch.start()
  const late = 'no response to a write for 0.02 s'
  await eventually(() => results.length === 2)
  t.equal(writes.length, 1)
  t.same(results, [late, late])
  writes[0]?.resolve()
  await eventually(() => writes.length === 2)
})
