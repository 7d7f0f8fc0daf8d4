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
import type { PoolStates } from './subscribe-to-pool-states.ts'
import { applyReports } from './reports/apply-reports.ts'
import { judgeReports } from './reports/judge-reports.ts'
import { readStored, type StoredReports } from './reports/read-stored.ts'

type Dependencies = Pick<
  Ledger,
  'database' | 'queue' | 'events' | 'relayWakeup' | 'longestWaitSeconds' | 'proxiedWaitSeconds'
>

/** Time for the report of an attempt that ended within its worker's deadline to arrive. */
const underWayMs = 500
const batchCaptures = 100
const batchesMax = 100
const atOnce = 4
/** A report stored this long ago and not applied was acknowledged before PostgreSQL lost its change, or the ledger is far behind. */
const forgottenMs = 60_000
const unbegunMs = 60_000
const unbegunCaptures = 1000

/** The failure of a capture that no worker has ended, for its record, and the action, for logs and metrics. */
type Failure = {
  readonly end: FailedEnd
  readonly action: Exclude<Reaped, 'sent_again'>
}

const failureBy = (action: Failure['action'], code: 'RENDER_ERROR' | 'JOB_FAILED', message: string): Failure => ({
  end: { status: 'failed', code, message },
  action,
})

const givenUp = failureBy('given_up', 'RENDER_ERROR', 'The capture did not end within its time budget.')
/** The Job of a proxied capture serves it alone: without a report it has died. */
const jobDied = failureBy('given_up', 'JOB_FAILED', 'The worker of the capture ended before the capture did.')
const neverBegun = failureBy('never_begun', 'JOB_FAILED', 'No worker began the capture in time.')
const neverBegunAgain = failureBy('never_begun', 'JOB_FAILED', 'No worker began the capture again in time.')
const notStartable = failureBy('not_startable', 'JOB_FAILED', 'No worker could be started for the capture in time.')

const isForgotten = ({ reports, newestAtMs }: StoredReports, nowMs: number) =>
  reports.length > 0 && nowMs - newestAtMs > forgottenMs

/** One pass over stuck captures: `nowMs` in milliseconds since 1970, and the pools that could not start a worker for long. */
type Pass = Dependencies & { readonly nowMs: number; readonly unstartable: readonly Pool[] }

/**
 * Judges a capture by its row, unchanged since it was found if `isSame`, and by its stored reports. A report that is not yet
 * applied means that the ledger is behind, and nothing is decided; one stored long ago will not be redelivered and is applied
 * here. Otherwise the capture ends with `failure`, if there is one. `settled`: the row was unchanged and has every report
 * applied.
 */
const judge = async (
  pass: Pass,
  stuck: Pick<OverdueCapture, 'id' | 'pool'>,
  { failure, isSame }: { failure: Failure | undefined; isSame: (capture: JudgedCapture) => boolean },
): Promise<{ settled: boolean; stored: StoredReports }> => {
  const stored = await readStored(pass.queue, stuck)
  let [settled, behind] = [false, false]
  const mayEnd = (capture: JudgedCapture) => {
    const same = isSame(capture)
    behind = same && judgeReports(capture, stored.reports).change !== undefined
    settled = same && !behind
    return settled
  }
  const ended = await failCapture(pass, stuck.id, { end: failure?.end, mayEnd })
  if (ended && failure) pass.events.reaped(ended, failure.action)
  if (behind && isForgotten(stored, pass.nowMs)) await applyReports(pass, stored.reports)
  return { settled, stored }
}

const isUsedUp = ({ unendedStarts, attempts }: OverdueCapture) => unendedStarts >= unendedMax || attempts >= maxAttempts

/** Why an overdue capture fails; undefined where it is requeued. The wait for another attempt is bounded like that for the first. */
const failureOf = (pass: Pass, overdue: OverdueCapture): Failure | undefined => {
  if (isUsedUp(overdue)) return overdue.pool === 'proxied' ? jobDied : givenUp
  if (overdue.ageSeconds >= pass.longestWaitSeconds) return neverBegunAgain
  const isUnstartable = pass.unstartable.includes(overdue.pool) && overdue.ageSeconds >= pass.proxiedWaitSeconds
  return isUnstartable ? notStartable : undefined
}

/**
 * Fails an overdue capture after two unended starts or three attempts, and requeues it otherwise. A result that did not count
 * is purged first, since workers take it for the capture's end; one that arrived since stays.
 */
const judgeOverdue = async (pass: Pass, overdue: OverdueCapture) => {
  const { attempts, unendedStarts } = overdue
  const failure = failureOf(pass, overdue)
  const { settled, stored } = await judge(pass, overdue, {
    failure,
    isSame: (row) => row.status === 'processing' && row.attempts === attempts && row.unendedStarts === unendedStarts,
  })
  if (failure || !settled) return
  if (stored.resultSequence !== undefined) {
    await purgeSubject(pass.queue, resultsStream.name, resultSubject(overdue), stored.resultSequence)
  }
  await requeueOverdue(pass.database, overdue)
  pass.relayWakeup.notify()
  pass.events.reaped(overdue, 'sent_again')
}

/** Judges all overdue captures, the longest first, and resolves to the failures: one that cannot be decided now does not delay the others. */
const judgeAllOverdue = async (pass: Pass): Promise<unknown[]> => {
  const failures: unknown[] = []
  let after: OverdueCapture | undefined
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const marginMs = ledgerMarginMs - underWayMs
    const { longestWaitSeconds } = pass
    const all = await findOverdue(pass.database, { marginMs, longestWaitSeconds, limit: batchCaptures, after })
    failures.push(...(await actOnEach(pass.queue, { all, atOnce }, (overdue) => judgeOverdue(pass, overdue))))
    after = all.at(-1)
    if (all.length < batchCaptures || !pass.queue.isConnected()) break
  }
  return failures
}

/** Fails captures of some pools that no worker has begun for `waitSeconds`; resolves to the errors of those that could not be failed. */
const failPending = async (
  pass: Pass,
  which: { readonly pools: readonly Pool[]; readonly waitSeconds: number },
  failure: Failure,
): Promise<unknown[]> => {
  const all = await findNeverBegun(pass.database, { ...which, limit: batchCaptures })
  const isSame = ({ status }: JudgedCapture) => status === 'pending'
  return actOnEach(pass.queue, { all, atOnce }, async (pending) => {
    await judge(pass, pending, { failure, isSame })
  })
}

/**
 * One pass over captures that will not end by themselves: attempts past their deadline, captures that no worker began, and
 * those of a pool that could not start a worker for as long as they may wait. Without a state from the controller only the
 * longest wait counts: unknown is not "cannot". Throws the first failure, after the pass.
 */
export const reap = async (
  ledger: Dependencies,
  states: Pick<PoolStates, 'couldNotStartFor'>,
  nowMs = Date.now(),
): Promise<void> => {
  const { longestWaitSeconds, proxiedWaitSeconds } = ledger
  const unstartable = states.couldNotStartFor(proxiedWaitSeconds * 1000)
  const pass = { ...ledger, nowMs, unstartable }
  const failures = [
    ...(await failPending(pass, { pools: unstartable, waitSeconds: proxiedWaitSeconds }, notStartable)),
    ...(await failPending(pass, { pools, waitSeconds: longestWaitSeconds }, neverBegun)),
    ...(await judgeAllOverdue(pass)),
  ]
  if (failures.length > 0) throw failures[0]
}

/**
 * Publishes captures again that no worker has begun for a minute: JetStream rejects the duplicate of a message that is still
 * there and stores one that was lost. Reports whose changes PostgreSQL has lost are applied instead.
 */
export const sendUnbegunAgain = async (ledger: Dependencies, nowMs = Date.now()): Promise<void> => {
  const { database, queue, relayWakeup } = ledger
  const which = { pools, waitSeconds: unbegunMs / 1000, limit: unbegunCaptures }
  const all = await findNeverBegun(database, which)
  const failures = await actOnEach(queue, { all, atOnce }, async (unbegun) => {
    const stored = await readStored(queue, unbegun)
    if (isForgotten(stored, nowMs)) await applyReports(ledger, stored.reports)
  })
  await requeueUnbegun(database, { olderThanMs: unbegunMs, limit: unbegunCaptures })
  relayWakeup.notify()
  if (failures.length > 0) throw failures[0]
}
