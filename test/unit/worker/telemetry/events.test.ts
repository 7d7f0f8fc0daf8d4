import t from 'tap'
import type { CompletedResult } from '#shared/queue/messages.ts'
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
