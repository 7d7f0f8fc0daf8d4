import { createHash, timingSafeEqual } from 'node:crypto'
import { type Format, mediaTypes } from '#shared/capture/options.ts'
import { type Stage, stages } from '#shared/capture/stages.ts'
import type { CaptureChange, CaptureEnd, JudgedCapture } from '#shared/db/change-captures.ts'
import type { CompletedResult, ResultMessage, StartedMessage } from '#shared/queue/messages.ts'
import { isCaptureObjectKey } from '#shared/storage/objects.ts'
import type { IgnoreReason } from '#ledger/telemetry/events.ts'
import type { Report } from './read-report.ts'

/** The changes of one capture by its reports. `notifies`: it has ended, and its completion is to be published, again if need be. */
export type ReportsJudgement = ReturnType<typeof judgeReports>

/** Bound on how far a start is backdated, since clocks differ; the consumer holds a report for less. */
const begunMsAgoMax = 1000

type FailedResult = Exclude<ResultMessage, CompletedResult>

/** `open`: it has not ended. */
type Phase = 'open' | CaptureEnd['status']

type State = {
  attempts: number
  unendedStarts: number
  readonly format: Format
  begins: boolean
  begunMsAgo: number
  end: CaptureEnd | undefined
  /** Phase and winner as they would be after the reports so far. */
  phase: Phase
  winner: string | null
  losers: string[]
  notifies: boolean
  ignored: IgnoreReason[]
}

/** Keeps only known stages, in their order: the worker may have another version. */
const knownTimings = (timings: Partial<Record<Stage, number>>): Partial<Record<Stage, number>> =>
  Object.fromEntries(stages.flatMap((stage) => (timings[stage] === undefined ? [] : [[stage, timings[stage]]])))

const toState = ({ attempts, unendedStarts, format, status, objectKey }: JudgedCapture): State => ({
  format,
  attempts,
  unendedStarts,
  begins: false,
  begunMsAgo: 0,
  end: undefined,
  phase: status === 'completed' || status === 'failed' ? status : 'open',
  winner: objectKey,
  losers: [],
  notifies: false,
  ignored: [],
})

/** A later attempt has begun: each report of one says so, its result too. */
const begin = (state: State, attempt: number, msAgo: number) => {
  if (attempt <= state.attempts) return
  state.attempts = attempt
  state.unendedStarts += 1
  state.begins = true
  state.begunMsAgo = msAgo
}

/** The latest attempt was handed back through no fault of its capture: it counts neither as begun nor as lost. */
const handBack = (state: State, attempt: number) => {
  if (attempt !== state.attempts || attempt === 0) return
  state.attempts -= 1
  state.unendedStarts = Math.max(0, state.unendedStarts - 1)
  state.begins = false
}

const end = (state: State, reported: CaptureEnd) => {
  state.end = reported
  state.phase = reported.status
  state.winner = reported.status === 'completed' ? reported.objectKey : null
  state.unendedStarts = Math.max(0, state.unendedStarts - 1)
  state.notifies = true
}

const failUnreadable = (state: State) =>
  end(state, { status: 'failed', code: 'JOB_FAILED', message: 'No worker could read the capture.' })

/** The media type is that of the requested format, not the worker's: a browser that opens the image relies on it. */
const complete = (state: State, result: CompletedResult, msAgo: number) => {
  begin(state, result.attempt, msAgo)
  end(state, {
    status: 'completed',
    objectKey: result.objectKey,
    fileSize: result.bytes,
    sha256: result.sha256,
    mimeType: mediaTypes[state.format],
    width: result.width,
    height: result.height,
    processingTimeMs: result.timings.total,
    targetStatus: result.targetStatus,
    sealedResult: result.details,
    timings: result.timings,
    files: result.files,
  })
}

const fail = (state: State, result: FailedResult, msAgo: number) => {
  if (result.attempt < state.attempts) return void state.ignored.push('late_failure')
  begin(state, result.attempt, msAgo)
  const { code, details: sealedResult, blame, timings } = result
  end(state, { status: 'failed', code, sealedResult, blame, timings })
}

const ignore = () => {}

const notify = (state: State) => {
  state.notifies = true
}

/** A repeated success of the winner is not one of another object. */
const lose = (state: State, { objectKey }: CompletedResult) => {
  if (state.winner !== objectKey) state.losers.push(objectKey)
  state.notifies = true
}

/** What each report does to a capture. */
type Reactions = Readonly<Record<StartedMessage['kind'], (state: State, attempt: number, msAgo: number) => void>> & {
  readonly success: (state: State, result: CompletedResult, msAgo: number) => void
  readonly failure: (state: State, result: FailedResult, msAgo: number) => void
}

const reactions: Readonly<Record<Phase, Reactions>> = {
  open: { begun: begin, 'handed-back': handBack, unreadable: failUnreadable, success: complete, failure: fail },
  completed: { begun: ignore, 'handed-back': ignore, unreadable: notify, success: lose, failure: notify },
  failed: { begun: ignore, 'handed-back': ignore, unreadable: notify, success: lose, failure: notify },
}

const applyResult = (
  state: State,
  message: ResultMessage,
  { tokenHash, msAgo }: { tokenHash: Buffer; msAgo: number },
) => {
  const hash = createHash('sha256').update(message.token).digest()
  if (!timingSafeEqual(hash, tokenHash)) return void state.ignored.push('token')
  const result = { ...message, timings: knownTimings({ ...message.timings, commit: msAgo }) }
  if (result.outcome !== 'completed') reactions[state.phase].failure(state, result, msAgo)
  else if (isCaptureObjectKey(result.id, result.objectKey)) reactions[state.phase].success(state, result, msAgo)
  else state.ignored.push('object_key')
}

/**
 * Judges the reports on one capture, in the order in which they were stored. The first success of any attempt wins, even if a
 * later attempt has begun; a failure counts only from the latest attempt that began; a result that precedes its start implies
 * it; the latest attempt does not count once it is handed back. An end is final: for a repeated result the completion is
 * published again, and the object of a later success is one of `losers`.
 */
export const judgeReports = (capture: JudgedCapture, reports: readonly Report[], nowMs = Date.now()) => {
  const state = toState(capture)
  for (const report of reports) {
    // Two clocks, which may differ.
    const msAgo = Math.max(0, Math.round(nowMs - report.storedAtMs))
    if (report.pool !== capture.pool) state.ignored.push('pool')
    else if (report.kind === 'result') applyResult(state, report.message, { tokenHash: capture.tokenHash, msAgo })
    else reactions[state.phase][report.message.kind](state, report.message.attempt, msAgo)
  }
  const { attempts, unendedStarts, begins, begunMsAgo, losers, notifies, ignored } = state
  const isChanged = state.end || begins || attempts !== capture.attempts
  const change: CaptureChange = {
    attempts,
    unendedStarts,
    begins,
    begunMsAgo: Math.min(begunMsAgo, begunMsAgoMax),
    end: state.end,
  }
  return {
    change: isChanged ? change : undefined,
    /** Age of the report by which the latest attempt began, in milliseconds: hours after an outage. */
    begunMsAgo,
    losers,
    notifies,
    ignored,
  }
}
