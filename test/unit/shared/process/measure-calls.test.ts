import t from 'tap'
import { measureCalls } from '#shared/process/measure-calls.ts'
import { createStoreEvents } from '#shared/process/store-watch.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createRecordingLog } from '#test/helpers/recording-log.ts'

const createStore = () => {
  let value = ''
  return {
    get: async () => value,
    put: async (next: string) => {
      if (next === 'refused') throw new AppError('VALIDATION_ERROR')
      if (next === 'unavailable') throw new AppError('SERVICE_UNAVAILABLE')
      value = next
    },
    probe: async () => 'ok',
  }
}

t.test(
  'measured calls: return and throw as before, and count failures of the store, not those of callers',
  async (t) => {
    const metrics = createMetrics('test')
    const events = createStoreEvents(createRecordingLog(), metrics)
    const store = measureCalls(createStore(), ['get', 'put'], events.storeRequested('object_store'))
    await store.put('a')
    t.equal(await store.get(), 'a')
    await t.rejects(store.put('refused'), { code: 'VALIDATION_ERROR' })
    await t.rejects(store.put('unavailable'), { code: 'SERVICE_UNAVAILABLE' })
    t.equal(await store.probe(), 'ok')
    const text = await metrics.text()
    const requests = [...text.matchAll(/^shutterfleet_store_requests_total\{(.*)\} (\d+)$/gm)].map(
      ([, ...found]) => found,
    )
    const labels = (operation: string, outcome: string) =>
      `store="object_store",operation="${operation}",outcome="${outcome}",component="test"`
    t.strictSame(requests, [
      [labels('get', 'error'), '0'],
      [labels('put', 'error'), '1'],
      [labels('delete', 'error'), '0'],
      [labels('put', 'ok'), '2'],
      [labels('get', 'ok'), '1'],
    ])
    t.match(text, /store_request_seconds_count\{.*operation="put"\} 3/)
  },
)
