import t from 'tap'
import { createEvents, createOutageMs } from '#ledger/telemetry/events.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createRecordingLog } from '#test/helpers/recording-log.ts'

t.test(
  'events: warns once when unread results fill half of their stream, and again after they were read',
  async (t) => {
    const warned: string[] = []
    const log = createRecordingLog(({ level, message }) => level === 'warn' && warned.push(message))
    const metrics = createMetrics('ledger')
    const { reportsUnread } = createEvents(log, metrics)
    for (const share of [0, 0.49]) reportsUnread(10, share)
    t.same(warned, [])
    for (const share of [0.5, 0.9, 1]) reportsUnread(10, share)
    t.equal(warned.length, 1)
    t.match(warned[0], 'SHUTTERFLEET_RESULTS_MAX_BYTES')
    for (const share of [0.1, 0.6]) reportsUnread(10, share)
    t.equal(warned.length, 2)
    t.match(await metrics.text(), /reports_unread_ratio(\{.*\})? 0\.6/)
  },
)

t.test('events: observes the time of a capture if it has one, and counts ends by outcome and fault', async (t) => {
  const metrics = createMetrics('ledger')
  const { begun, ended } = createEvents(createRecordingLog(), metrics)
  const capture = { id: 'a', pool: 'standard', lane: 'normal', traceparent: null } as const
  const completed = {
    status: 'completed',
    objectKey: 'captures/a',
    fileSize: 1,
    sha256: '',
    mimeType: 'image/png',
    width: 1,
    height: 1,
    warnings: [],
    timings: {},
  } as const
  ended(capture, { ...completed, processingTimeMs: 1500 })
  ended(capture, { ...completed, timings: { commit: 250, settle: 300 } })
  ended(capture, { status: 'failed', code: 'TIMEOUT', message: 'late' })
  ended(capture, { status: 'failed', code: 'RENDER_ERROR', message: 'a browser ended' })
  ended(capture, { status: 'failed', code: 'RENDER_ERROR', message: 'no match', blame: 'caller' })
  begun(capture, 700)
  const text = await metrics.text()
  t.match(text, /captures_ended_total\{.*outcome="completed",fault="none".*\} 2/)
  t.match(text, /captures_ended_total\{.*queue="standard",outcome="TIMEOUT",fault="target".*\} 1/)
  for (const fault of ['service', 'caller']) t.match(text, new RegExp(`outcome="RENDER_ERROR",fault="${fault}".*} 1`))
  t.match(text, /capture_queue_seconds_sum\{.*\} 0\.7/)
  t.match(text, /processing_seconds_sum\{.*\} 1\.5/)
  t.match(text, /processing_seconds_count\{.*\} 1\n/)
  t.match(text, /commit_seconds_sum\{.*\} 0\.25/)
  t.match(text, /capture_stage_seconds_sum\{.*stage="settle".*\} 0\.3/)
})

t.test('events: the outbox counts as unpublished from the first failure until a publish or a quiet period', (t) => {
  let nowMs = 1000
  const outageMs = createOutageMs(() => nowMs)
  const turns = [
    { atMs: 1000, taken: 1, failed: 0, want: 0 },
    { atMs: 2000, taken: 5, failed: 5, want: 0 },
    { atMs: 3000, taken: 0, failed: 0, want: 1000 },
    { atMs: 5000, taken: 5, failed: 1, want: 3000 },
    { atMs: 6000, taken: 4, failed: 0, want: 0 },
    { atMs: 7000, taken: 1, failed: 1, want: 0 },
    { atMs: 22_000, taken: 0, failed: 0, want: 15_000 },
    { atMs: 22_001, taken: 0, failed: 0, want: 0 },
  ]
  for (const { atMs, want, ...turn } of turns) {
    nowMs = atMs
    t.equal(outageMs(turn), want, `at ${atMs}`)
  }
  t.end()
})

t.test('events: the end of a traced capture has the id of its trace in the log and as an exemplar', async (t) => {
  const lines: object[] = []
  const metrics = createMetrics('ledger', {}, { withExemplars: true })
  const log = createRecordingLog(({ level, message, fields }) => lines.push({ level, message, ...fields }))
  const { begun, ended } = createEvents(log, metrics)
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`
  const capture = { id: 'a', pool: 'standard', lane: 'normal', traceparent } as const
  begun(capture, 9000)
  ended(capture, { status: 'failed', code: 'TIMEOUT', message: '' })
  t.match(lines, [{ message: 'ended', traceId }])
  t.match(
    await metrics.text('application/openmetrics-text'),
    new RegExp(`capture_queue_seconds_bucket.le="10".* # .trace_id="${traceId}"`),
  )
})
