import t from 'tap'
import { readReport } from '#ledger/reports/read-report.ts'
import { resultCodec, startedCodec } from '#shared/queue/messages.ts'
import { resultSubject, startedSubject } from '#shared/queue/subjects.ts'

const id = '11111111-1111-4111-8111-111111111111'
const other = '22222222-2222-4222-8222-222222222222'
const begun = startedCodec.encode({ id, attempt: 1, kind: 'begun', pod: 'pod' })
const failed = resultCodec.encode({
  id,
  attempt: 1,
  token: 'token',
  outcome: 'failed',
  code: 'TIMEOUT',
  timings: {},
})

const storedAtMs = 1_800_000_000_000
const read = (subject: string, data: Uint8Array) => readReport({ subject, data, storedAtMs })
const startedReportSubject = (of: string) => startedSubject({ pool: 'standard', id: of })
const ended = (of: string) => resultSubject({ pool: 'stealth', id: of })

t.test('read report: the subject gives the kind of report and the pool', async (t) => {
  t.match(read(startedReportSubject(id), begun), {
    kind: 'started',
    pool: 'standard',
    id,
    storedAtMs,
    message: { attempt: 1 },
  })
  t.match(read(ended(id), failed), { kind: 'result', pool: 'stealth', id, message: { outcome: 'failed' } })
})

t.test('timings: an unknown stage of a newer worker does not reject the report', async (t) => {
  const newer = { ...JSON.parse(Buffer.from(failed).toString()), timings: { prophesy: 3, total: 4 } } as unknown
  t.match(read(ended(id), Buffer.from(JSON.stringify(newer))), { message: { timings: { total: 4 } } })
})

t.test('read report: rejects a report that breaks its schema or names another capture than its subject', async (t) => {
  t.equal(read(startedReportSubject(other), begun), undefined)
  t.equal(read(ended(other), failed), undefined)
  t.equal(read(ended(id), begun), undefined)
  t.equal(read(startedReportSubject(id), Buffer.from('not JSON')), undefined)
  t.equal(read(`started.${id}`, begun), undefined)
})
