import { ledgerMarginMs, maxAttempts } from '#shared/capture/budget.ts'
import { type Pool, pools } from '#shared/capture/lane.ts'
import { type CaptureEnd, changeCaptures, type JudgedCapture } from '#shared/db/change-captures.ts'
import { findNeverBegun, findOverdue, type OverdueCapture } from '#shared/db/find-stuck.ts'
import { requeueCaptures, requeueUnbegun } from '#shared/db/requeue-captures.ts'
import { lastStored } from '#shared/queue/stored.ts'
import { purgeSubject } from '#shared/queue/streams.ts'
import { captureSubject, resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import type { Ledger } from './context.ts'
import type { Reaped } from './events.ts'
import type { PoolStates } from './hear-pool-states.ts'
import { judgeReports } from './reports/judge-reports.ts'
import { readReport, type Report } from './reports/read-report.ts'
import { tellEnd } from './tell-end.ts'

type Dependencies = Pick<
  Ledger,
  'database' | 'queue' | 'events' | 'relayBell' | 'longestWaitSeconds' | 'proxiedWaitSeconds'
>

/** Time that the report of an attempt which ended within its worker's time may be under way. */
const underWayMs = 500
const batchCaptures = 100
const unendedMax = 2
const unbegunMs = 60_000
const unbegunCaptures = 1000

/** Why a capture fails that no worker has ended, in the words of its record, and what became of it in those of the log. */
type Failure = {
  readonly end: Extract<CaptureEnd, { status: 'failed' }>
  readonly action: Exclude<Reaped, 'sent_again'>
}

const givenUp: Failure = {
  end: { status: 'failed', code: 'RENDER_ERROR', message: 'The capture did not end within its time budget.' },
  action: 'given_up',
}

/** Who serves one capture alone, and says nothing of it, is gone. */
const jobDied: Failure = {
  end: { status: 'failed', code: 'JOB_FAILED', message: 'The worker of the capture ended before the capture did.' },
  action: 'given_up',
}

const neverBegun: Failure = {
  end: { status: 'failed', code: 'JOB_FAILED', message: 'No worker began the capture in time.' },
  action: 'never_begun',
}

const notStartable: Failure = {
  end: { status: 'failed', code: 'JOB_FAILED', message: 'No worker could be started for the capture in time.' },
  action: 'not_startable',
}

const readStored = async ({ queue }: Dependencies, of: Pick<OverdueCapture, 'pool' | 'id'>): Promise<Report[]> => {
  const subjects = [startedSubject(of), resultSubject(of)]
  const stored = await Promise.all(subjects.map((subject) => lastStored(queue, resultsStream.name, subject)))
  return stored.flatMap((data, place) => (data && readReport(subjects[place] ?? '', data)) || [])
}

const isUsedUp = ({ unendedStarts, attempts }: JudgedCapture) => unendedStarts >= unendedMax || attempts >= maxAttempts

/** Ends captures under their locks, where `mayEnd` still says so, and takes their messages out of the queue. */
const failCaptures = async (
  { database, queue, events, relayBell }: Dependencies,
  ids: readonly string[],
  { end, action, mayEnd }: Failure & { mayEnd: (capture: JudgedCapture) => boolean },
): Promise<boolean> => {
  const { captures, roomMade } = await changeCaptures(database, ids, (capture) => {
    const { attempts, unendedStarts } = capture
    return mayEnd(capture) ? { change: { attempts, unendedStarts, begins: false, end } } : {}
  })
  if (roomMade) relayBell.ring()
  for (const capture of captures.filter(({ ended }) => ended)) {
    tellEnd(queue, capture)
    if (!ids.includes(capture.id)) continue // A follower: no worker ever sees it.
    events.ended(capture, end)
    events.reaped(capture, action)
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
    ...(overdue.pool === 'proxied' ? jobDied : givenUp),
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

/**
 * Fails captures of some pools that nobody has begun for `waitSeconds`. One of which a worker has stored a report that the
 * row does not know is left alone: somebody has begun it, and the ledger is behind.
 */
const failPending = async (
  ledger: Dependencies,
  which: { readonly pools: readonly Pool[]; readonly waitSeconds: number },
  failure: Failure,
) => {
  const pending = await findNeverBegun(ledger.database, { ...which, limit: batchCaptures })
  if (pending.length === 0) return
  const stored = await Promise.all(pending.map(async (of) => [of.id, await readStored(ledger, of)] as const))
  const reports = new Map(stored)
  const isUnheard = (capture: JudgedCapture) =>
    judgeReports(capture, reports.get(capture.id) ?? []).change === undefined
  const mayEnd = (capture: JudgedCapture) => capture.status === 'pending' && isUnheard(capture)
  await failCaptures(ledger, [...reports.keys()], { ...failure, mayEnd })
}

/**
 * Looks once for captures that will not end by themselves: attempts past their budget, captures that nobody began, and
 * those that wait for a pool whose workers could not be started for as long as they may wait. Where the controller says
 * nothing, only the longest wait counts: unknown is not "cannot".
 */
export const reap = async (ledger: Dependencies, states: Pick<PoolStates, 'couldNotStartFor'>): Promise<void> => {
  const { database, longestWaitSeconds, proxiedWaitSeconds } = ledger
  const stuck = states.couldNotStartFor(proxiedWaitSeconds * 1000)
  if (stuck.length > 0) await failPending(ledger, { pools: stuck, waitSeconds: proxiedWaitSeconds }, notStartable)
  await failPending(ledger, { pools, waitSeconds: longestWaitSeconds }, neverBegun)
  for (const overdue of await findOverdue(database, { marginMs: ledgerMarginMs - underWayMs, limit: batchCaptures })) {
    await judgeOverdue(ledger, overdue)
  }
}

/** Publishes captures again that nobody has begun for a minute: a message that is still there refuses it, one that was lost is replaced. */
export const sendUnbegunAgain = async ({ database, relayBell }: Dependencies): Promise<void> => {
  await requeueUnbegun(database, { olderThanMs: unbegunMs, limit: unbegunCaptures })
  relayBell.ring()
}
