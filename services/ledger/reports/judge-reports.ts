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

type State = {
  attempts: number
  unendedStarts: number
  readonly format: Format
  begins: boolean
  begunMsAgo: number
  end: CaptureEnd | undefined
  /** Status and winner as they would be after the reports so far. */
  ended: 'completed' | 'failed' | undefined
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
  ended: status === 'completed' || status === 'failed' ? status : undefined,
  winner: objectKey,
  losers: [],
  notifies: false,
  ignored: [],
})

const begin = (state: State, attempt: number, msAgo: number) => {
  if (state.ended || attempt <= state.attempts) return
  state.attempts = attempt
  state.unendedStarts += 1
  state.begins = true
  state.begunMsAgo = msAgo
}

/** The latest attempt was handed back through no fault of its capture: it counts neither as begun nor as lost. */
const handBack = (state: State, attempt: number) => {
  if (state.ended || attempt !== state.attempts || attempt === 0) return
  state.attempts -= 1
  state.unendedStarts = Math.max(0, state.unendedStarts - 1)
  state.begins = false
}

const finish = (state: State, end: CaptureEnd) => {
  state.end = end
  state.ended = end.status
  state.winner = end.status === 'completed' ? end.objectKey : null
  state.unendedStarts = Math.max(0, state.unendedStarts - 1)
}

const onStarted = (state: State, message: StartedMessage, msAgo: number) => {
  if (message.kind === 'begun') begin(state, message.attempt, msAgo)
  if (message.kind === 'handed-back') handBack(state, message.attempt)
  if (message.kind !== 'unreadable') return
  if (!state.ended)
    finish(state, { status: 'failed', code: 'JOB_FAILED', message: 'No worker could read the capture.' })
  state.notifies = true
}

/** The media type is that of the requested format, not the worker's: a browser that opens the image relies on it. */
const completedEnd = (result: CompletedResult, format: Format): CaptureEnd => ({
  status: 'completed',
  objectKey: result.objectKey,
  fileSize: result.bytes,
  sha256: result.sha256,
  mimeType: mediaTypes[format],
  width: result.width,
  height: result.height,
  processingTimeMs: result.timings.total,
  targetStatus: result.targetStatus,
  sealedResult: result.details,
  timings: result.timings,
  files: result.files,
})

const onCompleted = (state: State, result: CompletedResult, msAgo: number) => {
  if (!isCaptureObjectKey(result.id, result.objectKey)) return void state.ignored.push('object_key')
  begin(state, result.attempt, msAgo)
  if (!state.ended) finish(state, completedEnd(result, state.format))
  else if (state.winner !== result.objectKey) state.losers.push(result.objectKey)
  state.notifies = true
}

const onFailed = (state: State, result: Exclude<ResultMessage, CompletedResult>, msAgo: number) => {
  if (!state.ended && result.attempt < state.attempts) return void state.ignored.push('late_failure')
  begin(state, result.attempt, msAgo)
  const { code, details: sealedResult, blame, timings } = result
  if (!state.ended) finish(state, { status: 'failed', code, sealedResult, blame, timings })
  state.notifies = true
}

const onResult = (state: State, message: ResultMessage, { tokenHash, msAgo }: { tokenHash: Buffer; msAgo: number }) => {
  const hash = createHash('sha256').update(message.token).digest()
  if (!timingSafeEqual(hash, tokenHash)) return void state.ignored.push('token')
  const result = { ...message, timings: knownTimings({ ...message.timings, commit: msAgo }) }
  if (result.outcome === 'completed') onCompleted(state, result, msAgo)
  else onFailed(state, result, msAgo)
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
    else if (report.kind === 'started') onStarted(state, report.message, msAgo)
    else onResult(state, report.message, { tokenHash: capture.tokenHash, msAgo })
  }
  const { attempts, unendedStarts, begins, begunMsAgo, end, losers, notifies, ignored } = state
  const isChanged = end || begins || attempts !== capture.attempts
  const change: CaptureChange = {
    attempts,
    unendedStarts,
    begins,
    begunMsAgo: Math.min(begunMsAgo, begunMsAgoMax),
    end,
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
