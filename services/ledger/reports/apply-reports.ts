import { type ChangedCapture, changeCaptures, type JudgedCapture } from '#shared/db/change-captures.ts'
import { removeDoubtful, removeOrphans } from '#ledger/db/object-removals.ts'
import { isCaptureObjectKey } from '#shared/storage/objects.ts'
import type { Database } from '#shared/db/connection.ts'
import type { Wakeup } from '#shared/process/wakeup.ts'
import type { Queue } from '#shared/queue/connection.ts'
import type { Events } from '#ledger/telemetry/events.ts'
import { publishCompletion } from './publish-completion.ts'
import { judgeReports, type ReportsJudgement } from './judge-reports.ts'
import type { Report } from './read-report.ts'

type Dependencies = {
  readonly events: Events
  readonly relayWakeup: Pick<Wakeup, 'notify'>
  readonly database: Pick<Database, 'query' | 'transaction'>
  readonly queue: Pick<Queue, 'publish'>
}

type Judged = { readonly before: JudgedCapture; readonly judgement: ReportsJudgement }

const publishJudgement = ({ queue, events }: Dependencies, capture: ChangedCapture, { before, judgement }: Judged) => {
  if (judgement.notifies) publishCompletion(queue, capture)
  const { change } = judgement
  if (change?.begins && before.attempts === 0) {
    events.begun(before, Math.max(0, before.ageMs - judgement.begunMsAgo))
  }
  if (change?.end) events.ended(before, change.end)
  if (judgement.losers.length > 0) events.lost(capture.id, judgement.losers)
  for (const reason of judgement.ignored) events.reportIgnored(capture.id, reason)
}

/** The objects in reports on captures that were deleted during an attempt; keys of other captures are ignored. */
const objectKeys = (reports: readonly Report[]): string[] =>
  reports.flatMap(({ kind, id, message }) =>
    kind === 'result' && message.outcome === 'completed' && isCaptureObjectKey(id, message.objectKey)
      ? [message.objectKey]
      : [],
  )

/** The objects that attempts may have stored which were handed back; keys of other captures are ignored. */
const doubtfulKeys = (reports: readonly Report[]): string[] =>
  reports.flatMap(({ kind, id, message }) =>
    kind === 'started' && message.kind === 'handed-back'
      ? (message.objectKeys ?? []).filter((key) => isCaptureObjectKey(id, key))
      : [],
  )

const dropUnknown = async ({ database, events }: Dependencies, unknown: readonly (readonly Report[])[]) => {
  for (const [report] of unknown) if (report) events.reportIgnored(report.id, 'unknown_capture')
  await removeOrphans(database, objectKeys(unknown.flat()))
}

/**
 * Writes the changes by reports in one transaction, then publishes the completions of captures that have ended, also for
 * repeated results, and of their followers. Marks objects that workers stored for deleted captures for removal. Throws if
 * nothing was written; the same reports may be applied again.
 */
export const applyReports = async (ledger: Dependencies, reports: readonly Report[]): Promise<void> => {
  const byCapture = Map.groupBy(reports, ({ id }) => id)
  const judgements = new Map<string, Judged>()
  const { captures, roomMade } = await changeCaptures(ledger.database, [...byCapture.keys()], (capture) => {
    const judgement = judgeReports(capture, byCapture.get(capture.id) ?? [])
    judgements.set(capture.id, { before: capture, judgement })
    return judgement
  })
  if (roomMade) ledger.relayWakeup.notify()
  const changed = new Map(captures.map((capture) => [capture.id, capture]))
  const unknown: (readonly Report[])[] = []
  for (const [id, all] of byCapture) {
    const capture = changed.get(id)
    const judged = judgements.get(id)
    if (capture && judged) publishJudgement(ledger, capture, judged)
    else unknown.push(all)
  }
  for (const follower of captures) if (!judgements.has(follower.id)) publishCompletion(ledger.queue, follower)
  await removeDoubtful(ledger.database, doubtfulKeys(reports))
  await dropUnknown(ledger, unknown)
}
