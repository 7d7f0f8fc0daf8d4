import { ledgerMarginMs, maxAttempts, unendedMax } from '#shared/capture/budget.ts'
import { type Pool, pools } from '#shared/capture/lane.ts'
import type { JudgedCapture } from '#shared/db/change-captures.ts'
import { findOverdue, findUnstarted, type OverdueCapture } from './db/find-stuck.ts'
import { requeueOverdue, requeueUnstarted } from './db/requeue-captures.ts'
import { deleteMessages } from '#shared/queue/streams.ts'
import { resultSubject } from '#shared/queue/subjects.ts'
import { resultsStream } from '#shared/queue/topology.ts'
import { actOnEach } from './act-on-each.ts'
import type { Ledger } from './context.ts'
import type { ReapAction } from './telemetry/events.ts'
import { failCapture, type FailedEnd } from './fail-capture.ts'
import type { PoolStates } from './subscribe-to-pool-states.ts'
import { applyReports } from './reports/apply-reports.ts'
import { judgeReports } from './reports/judge-reports.ts'
import { readStoredReports, type StoredReports } from './reports/read-stored-reports.ts'

type Dependencies = Pick<
  Ledger,
  'database' | 'queue' | 'events' | 'relayWakeup' | 'longestWaitSeconds' | 'unstartableWaitSeconds'
>

/** Time allowed for the report of an attempt that ended within its worker's deadline to arrive. */
const reportDelayMs = 500
const batchCaptures = 100
const batchesMax = 100
const concurrency = 4
/** If a report stored this long ago is not applied, PostgreSQL lost the change after the ack, or the ledger is far behind. */
const staleReportsMs = 60_000
const unstartedMs = 60_000
const unstartedCaptures = 1000

/** The failure of a stuck capture, for its record, and the action, for logs and metrics. */
type Failure = {
  readonly end: FailedEnd
  readonly action: Exclude<ReapAction, 'retried'>
}

const failureBy = (action: Failure['action'], code: 'RENDER_ERROR' | 'JOB_FAILED', message: string): Failure => ({
  end: { status: 'failed', code, message },
  action,
})

const givenUp = failureBy('given_up', 'RENDER_ERROR', 'The capture did not end within its time budget.')
/** A Job serves one proxied capture, so that without a report the Job has died. */
const jobDied = failureBy('given_up', 'JOB_FAILED', 'The worker of the capture ended before the capture did.')
const notStarted = failureBy('never_begun', 'JOB_FAILED', 'No worker began the capture in time.')
const notRestarted = failureBy('never_begun', 'JOB_FAILED', 'No worker began the capture again in time.')
const notStartable = failureBy('not_startable', 'JOB_FAILED', 'No worker could be started for the capture in time.')

const areStale = ({ reports, newestAtMs }: StoredReports, nowMs: number) =>
  reports.length > 0 && nowMs - newestAtMs > staleReportsMs

/** One pass over stuck captures. `nowMs`: since 1970. `unstartable`: pools that could start no worker for `unstartableWaitSeconds`. */
type Pass = Dependencies & { readonly nowMs: number; readonly unstartable: readonly Pool[] }

/**
 * Checks a capture by its row, unchanged since it was found if `isSame`, and by its stored reports. If a report is not yet
 * applied the ledger is behind, and nothing is decided; a stale report will not be redelivered and is applied here. Otherwise
 * the capture ends with `failure`, if there is one. `settled`: the row was unchanged and every report is applied.
 */
const failUnlessReported = async (
  pass: Pass,
  stuck: Pick<OverdueCapture, 'id' | 'pool'>,
  { failure, isSame }: { failure: Failure | undefined; isSame: (capture: JudgedCapture) => boolean },
): Promise<{ settled: boolean; stored: StoredReports }> => {
  const stored = await readStoredReports(pass.queue, stuck)
  let [settled, behind] = [false, false]
  const mayEnd = (capture: JudgedCapture) => {
    const same = isSame(capture)
    behind = same && judgeReports(capture, stored.reports).change !== undefined
    settled = same && !behind
    return settled
  }
  const ended = await failCapture(pass, stuck.id, { end: failure?.end, mayEnd })
  if (ended && failure) pass.events.reaped(ended, failure.action)
  if (behind && areStale(stored, pass.nowMs)) await applyReports(pass, stored.reports)
  return { settled, stored }
}

const isUsedUp = ({ unendedStarts, attempts }: OverdueCapture) => unendedStarts >= unendedMax || attempts >= maxAttempts

/** Why an overdue capture fails; undefined if it is requeued. The wait for another attempt has the bounds of that for the first. */
const findFailure = (pass: Pass, overdue: OverdueCapture): Failure | undefined => {
  if (isUsedUp(overdue)) return overdue.pool === 'proxied' ? jobDied : givenUp
  if (overdue.ageSeconds >= pass.longestWaitSeconds) return notRestarted
  const isUnstartable = pass.unstartable.includes(overdue.pool) && overdue.ageSeconds >= pass.unstartableWaitSeconds
  return isUnstartable ? notStartable : undefined
}

/**
 * Fails an overdue capture after two unended starts or three attempts, and requeues it otherwise. An ignored result is deleted
 * first, since workers would treat the capture as ended; a result that arrived since is not.
 */
const failOrRequeue = async (pass: Pass, overdue: OverdueCapture) => {
  const { attempts, unendedStarts } = overdue
  const failure = findFailure(pass, overdue)
  const { settled, stored } = await failUnlessReported(pass, overdue, {
    failure,
    isSame: (row) => row.status === 'processing' && row.attempts === attempts && row.unendedStarts === unendedStarts,
  })
  if (failure || !settled) return
  if (stored.resultSequence !== undefined) {
    await deleteMessages(pass.queue, resultsStream.name, resultSubject(overdue), stored.resultSequence)
  }
  await requeueOverdue(pass.database, overdue)
  pass.relayWakeup.notify()
  pass.events.reaped(overdue, 'retried')
}

/** Fails or requeues all overdue captures, the longest overdue first. Resolves to the errors, which do not stop the pass. */
const failOrRequeueAll = async (pass: Pass): Promise<unknown[]> => {
  const failures: unknown[] = []
  let after: OverdueCapture | undefined
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const marginMs = ledgerMarginMs - reportDelayMs
    const { longestWaitSeconds } = pass
    const all = await findOverdue(pass.database, { marginMs, longestWaitSeconds, limit: batchCaptures, after })
    failures.push(...(await actOnEach(pass.queue, { all, concurrency }, (overdue) => failOrRequeue(pass, overdue))))
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
  const all = await findUnstarted(pass.database, { ...which, limit: batchCaptures })
  const isSame = ({ status }: JudgedCapture) => status === 'pending'
  return actOnEach(pass.queue, { all, concurrency }, async (pending) => {
    await failUnlessReported(pass, pending, { failure, isSame })
  })
}

/**
 * Makes one pass over stuck captures: attempts past their deadline, captures that no worker began, and captures that waited
 * `unstartableWaitSeconds` in a pool that could start no worker for as long. Without a recent state from the controller only
 * `longestWaitSeconds` applies, because unknown does not mean "cannot start". Throws the first error, after the pass.
 */
export const reap = async (
  ledger: Dependencies,
  states: Pick<PoolStates, 'couldNotStartFor'>,
  nowMs = Date.now(),
): Promise<void> => {
  const { longestWaitSeconds, unstartableWaitSeconds } = ledger
  const unstartable = states.couldNotStartFor(unstartableWaitSeconds * 1000)
  const pass = { ...ledger, nowMs, unstartable }
  const failures = [
    ...(await failPending(pass, { pools: unstartable, waitSeconds: unstartableWaitSeconds }, notStartable)),
    ...(await failPending(pass, { pools, waitSeconds: longestWaitSeconds }, notStarted)),
    ...(await failOrRequeueAll(pass)),
  ]
  if (failures.length > 0) throw failures[0]
}

/**
 * Publishes captures again that no worker has begun for `olderThanMs`, a minute by default: JetStream rejects the duplicate of a
 * message that it still has and stores one that was lost. Stale reports, whose changes PostgreSQL has lost, are applied first.
 */
export const republishUnstarted = async (
  ledger: Pick<Dependencies, 'database' | 'queue' | 'events' | 'relayWakeup'>,
  { nowMs = Date.now(), olderThanMs = unstartedMs } = {},
): Promise<void> => {
  const { database, queue, relayWakeup } = ledger
  const which = { pools, waitSeconds: olderThanMs / 1000, limit: unstartedCaptures }
  const all = await findUnstarted(database, which)
  const failures = await actOnEach(queue, { all, concurrency }, async (unstarted) => {
    const stored = await readStoredReports(queue, unstarted)
    if (areStale(stored, nowMs)) await applyReports(ledger, stored.reports)
  })
  await requeueUnstarted(database, { olderThanMs, limit: unstartedCaptures })
  relayWakeup.notify()
  if (failures.length > 0) throw failures[0]
}
