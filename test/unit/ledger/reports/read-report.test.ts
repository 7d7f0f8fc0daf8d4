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
  message: 'slow',
  timings: {},
})

const said = (of: string) => startedSubject({ pool: 'standard', id: of })
const ended = (of: string) => resultSubject({ pool: 'stealth', id: of })

t.test('starts and results are told apart by their subject, which also says the pool', async (t) => {
  t.match(readReport(said(id), begun), { kind: 'started', pool: 'standard', id, message: { attempt: 1 } })
  t.match(readReport(ended(id), failed), { kind: 'result', pool: 'stealth', id, message: { outcome: 'failed' } })
})

t.test('what breaks its schema, or speaks of another capture than its subject, is no report', async (t) => {
  t.equal(readReport(said(other), begun), undefined)
  t.equal(readReport(ended(other), failed), undefined)
  t.equal(readReport(ended(id), begun), undefined)
  t.equal(readReport(said(id), Buffer.from('not JSON')), undefined)
  t.equal(readReport(`started.${id}`, begun), undefined)
})
