import { ledgerMarginMs, maxAttempts, unendedMax } from '#shared/capture/budget.ts'
import { type Pool, pools } from '#shared/capture/lane.ts'
import type { JudgedCapture } from '#shared/db/change-captures.ts'
import { findNeverBegun, findOverdue, type OverdueCapture } from './db/find-stuck.ts'
import { requeueOverdue, requeueUnbegun } from './db/requeue-captures.ts'
import { purgeSubject } from '#shared/queue/streams.ts'
import { resultSubject } from '#shared/queue/subjects.ts'
import { resultsStream } from '#shared/queue/topology.ts'
import { actOnEach } from './act-on-each.ts'
import type { Ledger } from './context.ts'
import type { Reaped } from './events.ts'
import { failCapture, type FailedEnd } from './fail-capture.ts'
import type { PoolStates } from './hear-pool-states.ts'
import { applyReports } from './reports/apply-reports.ts'
import { judgeReports } from './reports/judge-reports.ts'
import { readStored, type StoredReports } from './reports/read-stored.ts'

type Dependencies = Pick<
  Ledger,
  'database' | 'queue' | 'events' | 'relayBell' | 'longestWaitSeconds' | 'proxiedWaitSeconds'
>

/** Time that the report of an attempt which ended within its worker's time may be under way. */
const underWayMs = 500
const batchCaptures = 100
const batchesMax = 100
const atOnce = 4
/** A report that was stored this long ago has been acknowledged without its change, which PostgreSQL has lost since; or the ledger is far behind. */
const forgottenMs = 60_000
const unbegunMs = 60_000
const unbegunCaptures = 1000

/** Why a capture fails that no worker has ended, in the words of its record, and what became of it in those of the log. */
type Failure = {
  readonly end: FailedEnd
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

const neverBegunAgain: Failure = {
  end: { status: 'failed', code: 'JOB_FAILED', message: 'No worker began the capture again in time.' },
  action: 'never_begun',
}

const notStartable: Failure = {
  end: { status: 'failed', code: 'JOB_FAILED', message: 'No worker could be started for the capture in time.' },
  action: 'not_startable',
}

const isForgotten = ({ reports, newestAtMs }: StoredReports, nowMs: number) =>
  reports.length > 0 && nowMs - newestAtMs > forgottenMs

/** One look at what is stuck: `nowMs` in milliseconds since 1970, and the pools of which no worker could be started for long. */
type Look = Dependencies & { readonly nowMs: number; readonly unstartable: readonly Pool[] }

/**
 * Judges a capture by its row, which is still what was found where `isSame` says so, and by what its workers last stored. A
 * report that the row does not know means that the ledger is behind, and nothing is decided; one that was stored long ago
 * nobody will bring any more, and it is applied here. Else it ends with `failure`, if there is one. Answers whether the
 * row was as found and knows every report.
 */
const judge = async (
  look: Look,
  stuck: Pick<OverdueCapture, 'id' | 'pool'>,
  { failure, isSame }: { failure: Failure | undefined; isSame: (capture: JudgedCapture) => boolean },
): Promise<{ settled: boolean; stored: StoredReports }> => {
  const stored = await readStored(look.queue, stuck)
  let [settled, behind] = [false, false]
  const mayEnd = (capture: JudgedCapture) => {
    const same = isSame(capture)
    behind = same && judgeReports(capture, stored.reports).change !== undefined
    settled = same && !behind
    return settled
  }
  const ended = await failCapture(look, stuck.id, { end: failure?.end, mayEnd })
  if (ended && failure) look.events.reaped(ended, failure.action)
  if (behind && isForgotten(stored, look.nowMs)) await applyReports(look, stored.reports)
  return { settled, stored }
}

const isUsedUp = ({ unendedStarts, attempts }: OverdueCapture) => unendedStarts >= unendedMax || attempts >= maxAttempts

/** Why an overdue capture fails; undefined where it goes to a worker again. What waits for another attempt waits no longer than for its first. */
const failureOf = (look: Look, overdue: OverdueCapture): Failure | undefined => {
  if (isUsedUp(overdue)) return overdue.pool === 'proxied' ? jobDied : givenUp
  if (overdue.ageSeconds >= look.longestWaitSeconds) return neverBegunAgain
  const isUnstartable = look.unstartable.includes(overdue.pool) && overdue.ageSeconds >= look.proxiedWaitSeconds
  return isUnstartable ? notStartable : undefined
}

/**
 * Judges one overdue capture. Two unended starts or three attempts: it fails. Else it goes to a worker again; a result
 * that did not count is removed first, since workers take it for the capture's end. One that came since stays.
 */
const judgeOverdue = async (look: Look, overdue: OverdueCapture) => {
  const { attempts, unendedStarts } = overdue
  const failure = failureOf(look, overdue)
  const { settled, stored } = await judge(look, overdue, {
    failure,
    isSame: (row) => row.status === 'processing' && row.attempts === attempts && row.unendedStarts === unendedStarts,
  })
  if (failure || !settled) return
  if (stored.resultSequence !== undefined) {
    await purgeSubject(look.queue, resultsStream.name, resultSubject(overdue), stored.resultSequence)
  }
  await requeueOverdue(look.database, overdue)
  look.relayBell.ring()
  look.events.reaped(overdue, 'sent_again')
}

/** Judges all that are overdue, the longest first, and answers the failures: what cannot be decided now keeps nothing else waiting. */
const judgeAllOverdue = async (look: Look): Promise<unknown[]> => {
  const failures: unknown[] = []
  let after: OverdueCapture | undefined
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const marginMs = ledgerMarginMs - underWayMs
    const { longestWaitSeconds } = look
    const all = await findOverdue(look.database, { marginMs, longestWaitSeconds, limit: batchCaptures, after })
    failures.push(...(await actOnEach(look.queue, { all, atOnce }, (overdue) => judgeOverdue(look, overdue))))
    after = all.at(-1)
    if (all.length < batchCaptures || !look.queue.isConnected()) break
  }
  return failures
}

/** Fails captures of some pools that nobody has begun for `waitSeconds`, and answers what kept others from it. */
const failPending = async (
  look: Look,
  which: { readonly pools: readonly Pool[]; readonly waitSeconds: number },
  failure: Failure,
): Promise<unknown[]> => {
  const all = await findNeverBegun(look.database, { ...which, limit: batchCaptures })
  const isSame = ({ status }: JudgedCapture) => status === 'pending'
  return actOnEach(look.queue, { all, atOnce }, async (pending) => {
    await judge(look, pending, { failure, isSame })
  })
}

/**
 * Looks once for captures that will not end by themselves: attempts past their budget, captures that nobody began, and
 * those that wait for a pool whose workers could not be started for as long as they may wait. Where the controller says
 * nothing, only the longest wait counts: unknown is not "cannot". Throws the first failure, after all have been looked at.
 */
export const reap = async (
  ledger: Dependencies,
  states: Pick<PoolStates, 'couldNotStartFor'>,
  nowMs = Date.now(),
): Promise<void> => {
  const { longestWaitSeconds, proxiedWaitSeconds } = ledger
  const unstartable = states.couldNotStartFor(proxiedWaitSeconds * 1000)
  const look = { ...ledger, nowMs, unstartable }
  const failures = [
    ...(await failPending(look, { pools: unstartable, waitSeconds: proxiedWaitSeconds }, notStartable)),
    ...(await failPending(look, { pools, waitSeconds: longestWaitSeconds }, neverBegun)),
    ...(await judgeAllOverdue(look)),
  ]
  if (failures.length > 0) throw failures[0]
}

/**
 * Publishes captures again that nobody has begun for a minute: a message that is still there refuses it, one that was lost
 * is replaced. One that seems unbegun only because PostgreSQL has lost what its reports changed is not: they are applied.
 */
export const sendUnbegunAgain = async (ledger: Dependencies, nowMs = Date.now()): Promise<void> => {
  const { database, queue, relayBell } = ledger
  const which = { pools, waitSeconds: unbegunMs / 1000, limit: unbegunCaptures }
  const all = await findNeverBegun(database, which)
  const failures = await actOnEach(queue, { all, atOnce }, async (unbegun) => {
    const stored = await readStored(queue, unbegun)
    if (isForgotten(stored, nowMs)) await applyReports(ledger, stored.reports)
  })
  await requeueUnbegun(database, { olderThanMs: unbegunMs, limit: unbegunCaptures })
  relayBell.ring()
  if (failures.length > 0) throw failures[0]
}
