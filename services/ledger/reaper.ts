import { maxAttempts } from '#shared/capture/budget.ts'
import { changeCaptures, type JudgedCapture } from '#shared/db/change-captures.ts'
import { findNeverBegun, findOverdue, type OverdueCapture } from '#shared/db/find-stuck.ts'
import { requeueCaptures, requeueUnbegun } from '#shared/db/requeue-captures.ts'
import { lastStored } from '#shared/queue/stored.ts'
import { purgeSubject } from '#shared/queue/streams.ts'
import { captureSubject, resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import type { Ledger } from './context.ts'
import { judgeReports } from './reports/judge-reports.ts'
import { readReport, type Report } from './reports/read-report.ts'
import { tellEnd } from './tell-end.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'relayBell' | 'longestWaitSeconds'>

/** Time that the report of an attempt which ended within its budget may be under way. */
const graceMs = 2000
const batchCaptures = 100
const unendedMax = 2
const unbegunMs = 60_000
const unbegunCaptures = 1000

const givenUp = {
  status: 'failed',
  code: 'RENDER_ERROR',
  message: 'The capture did not end within its time budget.',
} as const

const neverBegun = { status: 'failed', code: 'JOB_FAILED', message: 'No worker began the capture in time.' } as const

const readStored = async ({ queue }: Dependencies, of: OverdueCapture): Promise<Report[]> => {
  const subjects = [startedSubject(of), resultSubject(of)]
  const stored = await Promise.all(subjects.map((subject) => lastStored(queue, resultsStream.name, subject)))
  return stored.flatMap((data, place) => (data && readReport(subjects[place] ?? '', data)) || [])
}

const isUsedUp = ({ unendedStarts, attempts }: JudgedCapture) => unendedStarts >= unendedMax || attempts >= maxAttempts

/** Ends captures under their locks, where `mayEnd` still says so, and takes their messages out of the queue. */
const failCaptures = async (
  { database, queue, events, relayBell }: Dependencies,
  ids: readonly string[],
  failure: { end: typeof givenUp | typeof neverBegun; mayEnd: (capture: JudgedCapture) => boolean },
): Promise<boolean> => {
  const { end, mayEnd } = failure
  const { captures, roomMade } = await changeCaptures(database, ids, (capture) => {
    const { attempts, unendedStarts } = capture
    return mayEnd(capture) ? { change: { attempts, unendedStarts, begins: false, end } } : {}
  })
  if (roomMade) relayBell.ring()
  for (const capture of captures.filter(({ ended }) => ended)) {
    tellEnd(queue, capture)
    events.ended(capture, end)
    events.reaped(capture, end === givenUp ? 'given_up' : 'never_begun')
    await purgeSubject(queue, capturesStream.name, captureSubject(capture))
  }
  return captures.some(({ ended }) => ended)
}

/**
 * Judges one overdue capture by its row and by what its workers last stored: a report that the row does not know yet
 * means that the ledger is behind, and nothing is decided. Two unended starts or three attempts: it fails. Else it goes
 * to a worker again; a result that did not count is removed first, since workers take it for the capture's end.
 */
const judgeOverdue = async (ledger: Dependencies, overdue: OverdueCapture) => {
  const { id, attempts } = overdue
  const reports = await readStored(ledger, overdue)
  let goesAgain = false
  const ended = await failCaptures(ledger, [id], {
    end: givenUp,
    mayEnd: (capture) => {
      const same = capture.status === 'processing' && capture.attempts === attempts
      const settled = same && judgeReports(capture, reports).change === undefined
      goesAgain = settled && !isUsedUp(capture)
      return settled && isUsedUp(capture)
    },
  })
  if (ended || !goesAgain) return
  await purgeSubject(ledger.queue, resultsStream.name, resultSubject(overdue))
  await requeueCaptures(ledger.database, [id])
  ledger.relayBell.ring()
  ledger.events.reaped(overdue, 'sent_again')
}

/** Looks once for captures that will not end by themselves: attempts past their budget, and captures that nobody began. */
export const reap = async (ledger: Dependencies): Promise<void> => {
  const { database, longestWaitSeconds: waitSeconds } = ledger
  const unbegun = await findNeverBegun(database, { waitSeconds, limit: batchCaptures })
  const isPending = ({ status }: JudgedCapture) => status === 'pending'
  if (unbegun.length > 0) await failCaptures(ledger, unbegun, { end: neverBegun, mayEnd: isPending })
  for (const overdue of await findOverdue(database, { graceMs, limit: batchCaptures })) {
    await judgeOverdue(ledger, overdue)
  }
}

/** Publishes captures again that nobody has begun for a minute: a message that is still there refuses it, one that was lost is replaced. */
export const sendUnbegunAgain = async ({ database, relayBell }: Dependencies): Promise<void> => {
  await requeueUnbegun(database, { olderThanMs: unbegunMs, limit: unbegunCaptures })
  relayBell.ring()
}
