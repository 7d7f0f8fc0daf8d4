import { createHash } from 'node:crypto'
import t from 'tap'
import { type Format, mediaTypes } from '#shared/capture/options.ts'
import type { JudgedCapture } from '#shared/db/change-captures.ts'
import type { CompletedResult, StartedMessage } from '#shared/queue/messages.ts'
import { judgeReports } from '#ledger/reports/judge-reports.ts'
import type { Report } from '#ledger/reports/read-report.ts'

const id = '11111111-1111-4111-8111-111111111111'
const objectKey = (digit: string, of = id) => `captures/2026-11-20T07/${of}/${digit.repeat(32)}`

const pending: JudgedCapture = {
  traceparent: null,
  id,
  accountId: '22222222-2222-4222-8222-222222222222',
  pool: 'standard',
  lane: 'normal',
  status: 'pending',
  format: 'png',
  tokenHash: createHash('sha256').update('token').digest(),
  ageMs: 5000,
  attempts: 0,
  unendedStarts: 0,
  objectKey: null,
}
const processing: JudgedCapture = { ...pending, status: 'processing', attempts: 1, unendedStarts: 1 }
const completed: JudgedCapture = { ...processing, status: 'completed', unendedStarts: 0, objectKey: objectKey('a') }
const failed: JudgedCapture = { ...completed, status: 'failed', objectKey: null }

const storedAtMs = 1_800_000_000_000
const started = (attempt: number, kind: StartedMessage['kind'] = 'begun'): Report => ({
  kind: 'started',
  pool: 'standard',
  id,
  storedAtMs,
  message: { id, attempt, kind, pod: 'pod' },
})
const success = (attempt: number, more: Partial<CompletedResult> = {}): Report => ({
  kind: 'result',
  pool: 'standard',
  id,
  storedAtMs,
  message: {
    id,
    attempt,
    token: 'token',
    outcome: 'completed',
    objectKey: objectKey('a'),
    bytes: 10,
    sha256: '0'.repeat(64),
    width: 1,
    height: 1,
    timings: { total: 5 },
    ...more,
  },
})
const failure = (attempt: number, token = 'token'): Report => ({
  kind: 'result',
  pool: 'standard',
  id,
  storedAtMs,
  message: { id, attempt, token, outcome: 'failed', code: 'TIMEOUT', details: 'sealed', timings: {} },
})

const nothing = { change: undefined, losers: [], ignored: [] }
const wins = { status: 'completed', objectKey: objectKey('a'), processingTimeMs: 5 }
type Want = { readonly [field: string]: unknown; readonly losers?: string[]; readonly ignored?: string[] }
const cases: { name: string; capture: JudgedCapture; reports: Report[]; want: Want }[] = [
  {
    name: 'a start begins a pending capture',
    capture: pending,
    reports: [started(1)],
    want: { change: { attempts: 1, unendedStarts: 1, begins: true, end: undefined }, notifies: false },
  },
  { name: 'the same start again changes nothing', capture: processing, reports: [started(1)], want: nothing },
  {
    name: 'a later start counts in addition to one without an end',
    capture: processing,
    reports: [started(2)],
    want: { change: { attempts: 2, unendedStarts: 2, begins: true } },
  },
  {
    name: 'a capture that was handed back has not begun',
    capture: pending,
    reports: [started(1, 'handed-back')],
    want: nothing,
  },
  {
    name: 'an attempt that is handed back does not count, and its capture stays in processing',
    capture: processing,
    reports: [started(1, 'handed-back')],
    want: { change: { attempts: 0, unendedStarts: 0, begins: false, end: undefined }, notifies: false },
  },
  {
    name: 'begun and handed back in one batch changes nothing',
    capture: pending,
    reports: [started(1), started(1, 'handed-back')],
    want: nothing,
  },
  {
    name: 'an attempt that begins again after it was handed back has its whole budget',
    capture: processing,
    reports: [started(1, 'handed-back'), started(1)],
    want: { change: { attempts: 1, unendedStarts: 1, begins: true } },
  },
  {
    name: 'an attempt that was lost stays counted when the next is handed back',
    capture: { ...processing, attempts: 2, unendedStarts: 2 },
    reports: [started(2, 'handed-back')],
    want: { change: { attempts: 1, unendedStarts: 1 } },
  },
  {
    name: 'an earlier attempt, or one of an ended capture, can no longer be handed back',
    capture: { ...processing, attempts: 2, unendedStarts: 2 },
    reports: [started(1, 'handed-back'), success(2), started(2, 'handed-back')],
    want: { change: { attempts: 2, unendedStarts: 1, end: wins } },
  },
  {
    name: 'an unreadable capture fails with an internal error',
    capture: pending,
    reports: [started(1, 'unreadable')],
    want: { change: { attempts: 0, end: { status: 'failed', code: 'JOB_FAILED' } }, notifies: true },
  },
  {
    name: 'start and result in one batch end the capture at once',
    capture: pending,
    reports: [started(1), success(1)],
    want: { change: { attempts: 1, unendedStarts: 0, begins: true, end: wins }, notifies: true },
  },
  {
    name: 'a result that comes before its start implies it',
    capture: pending,
    reports: [success(1), started(1)],
    want: { change: { attempts: 1, unendedStarts: 0, end: wins } },
  },
  {
    name: 'the latest attempt can fail the capture; text that PostgreSQL cannot store is removed',
    capture: processing,
    reports: [failure(1)],
    want: { change: { end: { status: 'failed', code: 'TIMEOUT', sealedResult: 'sealed' } }, notifies: true },
  },
  {
    name: 'the failure of an earlier attempt is ignored',
    capture: { ...processing, attempts: 2, unendedStarts: 2 },
    reports: [failure(1)],
    want: { ...nothing, ignored: ['late_failure'], notifies: false },
  },
  {
    name: 'the success of an earlier attempt counts',
    capture: { ...processing, attempts: 2, unendedStarts: 2 },
    reports: [failure(1), success(1)],
    want: { change: { attempts: 2, end: wins }, ignored: ['late_failure'] },
  },
  {
    name: 'a result without the token of the capture is ignored',
    capture: processing,
    reports: [success(1, { token: 'other' }), failure(1, 'other')],
    want: { ...nothing, ignored: ['token', 'token'], notifies: false },
  },
  {
    name: 'every report of a worker of another pool is ignored',
    capture: processing,
    reports: [started(1, 'unreadable'), started(2), success(1), failure(1)].map((each) => ({
      ...each,
      pool: 'stealth',
    })),
    want: { ...nothing, ignored: ['pool', 'pool', 'pool', 'pool'], notifies: false },
  },
  {
    name: 'an object of another capture is ignored',
    capture: processing,
    reports: [success(1, { objectKey: objectKey('a', '33333333-3333-4333-8333-333333333333') })],
    want: { ...nothing, ignored: ['object_key'], notifies: false },
  },
  {
    name: 'a repeated success is published again, and no object is removed',
    capture: completed,
    reports: [success(1)],
    want: { ...nothing, notifies: true },
  },
  {
    name: 'a later success with another object has lost',
    capture: completed,
    reports: [success(2, { objectKey: objectKey('b') })],
    want: { ...nothing, losers: [objectKey('b')], notifies: true },
  },
  {
    name: 'of two successes in one batch the first wins',
    capture: processing,
    reports: [success(1), success(2, { objectKey: objectKey('b') })],
    want: { change: { end: wins }, losers: [objectKey('b')] },
  },
  {
    name: 'a failed capture stays failed, and a later success has lost',
    capture: failed,
    reports: [failure(1), success(2, { objectKey: objectKey('b') })],
    want: { ...nothing, losers: [objectKey('b')], notifies: true },
  },
  { name: 'a completed capture stays completed', capture: completed, reports: [failure(1), started(2)], want: nothing },
  {
    name: 'what a worker sealed is passed on as it is',
    capture: processing,
    reports: [success(1, { details: 'sealed' })],
    want: { change: { end: { sealedResult: 'sealed' } } },
  },
]

for (const { name, capture, reports, want } of cases) {
  t.test(`judge reports: ${name}`, async (t) => {
    const judged = judgeReports(capture, reports)
    t.match(judged, want)
    // An empty list matches any.
    t.strictSame([judged.losers, judged.ignored], [want.losers ?? [], want.ignored ?? []])
  })
}

type Effect = 'nothing' | 'counts' | 'ends' | 'notifies'
type Effects = Readonly<Record<StartedMessage['kind'] | 'success' | 'failure', Effect>>
const ended: Effects = {
  ...{ begun: 'nothing', 'handed-back': 'nothing', unreadable: 'notifies', success: 'notifies', failure: 'notifies' },
}
const effects: Readonly<Record<JudgedCapture['status'], Effects>> = {
  pending: { begun: 'counts', 'handed-back': 'nothing', unreadable: 'ends', success: 'ends', failure: 'ends' },
  processing: { begun: 'nothing', 'handed-back': 'counts', unreadable: 'ends', success: 'ends', failure: 'ends' },
  completed: ended,
  failed: ended,
}
const states = { pending, processing, completed, failed }

t.test('judge reports: each report has its effect in each state', async (t) => {
  for (const [status, reports] of Object.entries(effects)) {
    for (const [kind, effect] of Object.entries(reports)) {
      const report = kind === 'success' ? success(1) : kind === 'failure' ? failure(1) : started(1, kind as 'begun')
      const { change, notifies } = judgeReports(states[status as keyof typeof states], [report])
      const found = change?.end ? 'ends' : change ? 'counts' : notifies ? 'notifies' : 'nothing'
      t.strictSame([found, notifies], [effect, effect === 'ends' || effect === 'notifies'], `${status}: ${kind}`)
    }
  }
})

const timingsAfter = (timings: Record<string, number>, nowMs: number) =>
  judgeReports(processing, [success(1, { timings })], nowMs).change?.end?.timings

t.test('timings: drops unknown stages of a newer worker, accepts missing ones of an older worker', async (t) => {
  const newer = { claim: 1, prophesy: 2, total: 5 }
  t.strictSame(timingsAfter(newer, storedAtMs), { claim: 1, total: 5, commit: 0 })
  t.strictSame(timingsAfter({ open: 1, total: 5 }, storedAtMs), { open: 1, total: 5, commit: 0 })
})

t.test('begin: its age is that of its report; in the record a second at most', async (t) => {
  const agesAt = (nowMs: number) => {
    const { change, begunMsAgo } = judgeReports(pending, [started(1), success(1)], nowMs)
    return [change?.begunMsAgo, begunMsAgo]
  }
  t.strictSame(agesAt(storedAtMs + 150), [150, 150])
  t.strictSame(agesAt(storedAtMs + 3_600_000), [1000, 3_600_000])
  t.strictSame(agesAt(storedAtMs - 3_600_000), [0, 0])
})

t.test('timings: are in the order of the stages, with the commit measured by the ledger', async (t) => {
  const timings = timingsAfter({ total: 5, commit: 99, shoot: 2, queue: 1 }, storedAtMs + 30.4) ?? {}
  t.strictSame(Object.entries(timings), Object.entries({ queue: 1, shoot: 2, total: 5, commit: 30 }))
  t.equal(timingsAfter({}, storedAtMs - 5)?.['commit'], 0, 'if the clock of NATS is ahead')
})

t.test('judge reports: the media type of an image follows the requested format', async (t) => {
  for (const [format, mimeType] of Object.entries(mediaTypes) as [Format, string][]) {
    t.match(judgeReports({ ...processing, format }, [success(1)]).change?.end, { status: 'completed', mimeType })
  }
})
