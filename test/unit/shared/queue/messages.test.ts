import t from 'tap'
import {
  backlogCodec,
  heartbeatCodec,
  captureCodec,
  eventCodec,
  resultCodec,
  startedCodec,
} from '#shared/queue/messages.ts'

const id = '0d9f6c1e-0000-4000-8000-000000000001'
const completed = {
  id,
  attempt: 1,
  token: 'token',
  outcome: 'completed' as const,
  objectKey: `captures/2026-01-01T00/${id}/00000000000000000000000000000000`,
  bytes: 10,
  sha256: 'a'.repeat(64),
  width: 1280,
  height: 800,
  timings: { navigate: 10 },
}

t.test('messages: an encoded message decodes to the same value', async (t) => {
  t.strictSame(resultCodec.decode(resultCodec.encode(completed)), completed)
  const started = { id, attempt: 2, kind: 'begun' as const, pod: 'worker-1' }
  t.strictSame(startedCodec.decode(startedCodec.encode(started)), started)
})

t.test('messages: decoding rejects an invalid message with JOB_FAILED and the reason', async (t) => {
  const bad = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  for (const value of [
    'not json',
    '{}',
    { ...completed, id: 'x' },
    { ...completed, mimeType: 'text/html' },
    { ...completed, bytes: -1 },
    { ...completed, more: 1 },
    { ...completed, sha256: 'A'.repeat(64) },
    { ...completed, outcome: 'failed' },
  ]) {
    t.throws(() => resultCodec.decode(bad(value)), { code: 'JOB_FAILED', message: /result message/ })
  }
})

t.test('messages: encoding an invalid message is a TypeError', async (t) => {
  t.throws(() => eventCodec.encode({ id: 'x', status: 'completed' }), TypeError)
  t.throws(() => captureCodec.encode({ id, pool: 'standard', budgetMs: 1, attempts: 0, sealed: 'x' }), TypeError)
  t.throws(
    () => heartbeatCodec.encode({ pod: '', pool: 'standard', pid: 1, slots: 1, busy: 0, state: 'ready', captures: [] }),
    TypeError,
  )
})

t.test('messages: a controller reads the reports of ledgers and workers of later releases', async (t) => {
  const counts = { pending: 1, processing: 2, oldestMs: 4, later: 1 }
  const lane = { ...counts, accepted: 5 }
  const backlog = {
    pool: 'standard',
    ...counts,
    lanes: { interactive: lane, normal: lane, bulk: lane, later: lane },
  }
  t.match(backlogCodec.decode(Buffer.from(JSON.stringify(backlog))), { pending: 1, lanes: { bulk: { oldestMs: 4 } } })
  const heartbeat = { pod: 'a', pool: 'standard', pid: 1, slots: 1, busy: 0, state: 'ready', captures: [], later: [] }
  const browsers = [{ browser: 'shell', version: '1', later: 1 }]
  const more = { ...heartbeat, laneServiceMs: { later: 1 }, browsers }
  for (const each of [heartbeat, more]) t.match(heartbeatCodec.decode(Buffer.from(JSON.stringify(each))), { pod: 'a' })
})
