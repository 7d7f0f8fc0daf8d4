import t from 'tap'
import type { CompletedResult, FailedResult } from '#shared/queue/messages.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createEvents } from '#worker/telemetry/events.ts'
import { createRecordingLog } from '#test/helpers/recording-log.ts'

t.test(
  'events: logs a completed capture with the key of the block lists whose versions were logged before',
  async (t) => {
    const lines: object[] = []
    const logger = createRecordingLog(({ fields, message }) => lines.push({ ...fields, message }))
    const metrics = createMetrics('worker')
    const events = createEvents(logger, metrics)
    const lists = [{ kind: 'ads', name: 'easylist.txt', version: '202610310000' }] as const
    events.blockLists({ key: 'abc', lists })
    t.match(
      await metrics.text(),
      /^shutterfleet_worker_block_list_info\{kind="ads",name="easylist.txt",version="202610310000",component="worker"\} 1$/m,
    )
    events.ended({ outcome: 'completed', id: '1', attempt: 1, bytes: 5, timings: {} } as CompletedResult)
    t.match(lines, [
      { message: 'block lists loaded', lists: 'abc', versions: ['ads/easylist.txt@202610310000'] },
      { message: 'capture completed', id: '1', lists: 'abc' },
    ])
  },
)

t.test('events: a worker has at most 60 series, whatever it has met', async (t) => {
  const metrics = createMetrics('worker', { queue: 'standard' })
  const events = createEvents(
    createRecordingLog(() => {}),
    metrics,
  )
  events.ended({ outcome: 'completed', id: '1', attempt: 1, bytes: 5, timings: {} } as CompletedResult)
  events.ended({ outcome: 'failed', id: '2', attempt: 1, code: 'TIMEOUT', timings: {} } as FailedResult)
  events.hostUp(5)
  for (const cause of ['egress', 'browser', 'store'] as const) events.held(cause, 'none')
  events.blockLists({
    key: 'a',
    lists: ['ads', 'trackers', 'cookies'].map((name) => ({ kind: 'ads', name, version: '1' })),
  })
  events.browsers([{ browser: 'shell', version: '1', builtAtMs: 5 }])
  const series = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  t.ok(series.length <= 60, `${series.length} series`)
  t.ok(series.length > 20, `${series.length} series`)
  t.match(series.join('\n'), 'process_resident_memory_bytes')
})
