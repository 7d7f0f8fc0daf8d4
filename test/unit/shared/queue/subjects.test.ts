import t from 'tap'
import { parseCaptureId, parseReportSubject, resultSubject, startedSubject } from '#shared/queue/subjects.ts'

const of = { pool: 'stealth', id: 'i' } as const

t.test('subjects: the subject of a report contains its kind, its pool and its capture', async (t) => {
  t.strictSame(parseReportSubject(startedSubject(of)), { kind: 'started', ...of })
  t.strictSame(parseReportSubject(resultSubject(of)), { kind: 'result', ...of })
  t.equal(parseCaptureId(resultSubject(of)), 'i')
})

t.test('subjects: rejects a report subject with an unknown pool, without an id, or with more tokens', async (t) => {
  for (const subject of [
    '',
    'started.i',
    'started.other.i',
    'result.stealth.',
    'result.stealth.i.j',
    'event.stealth.i',
  ]) {
    t.equal(parseReportSubject(subject), undefined, subject)
  }
})
