import { maxAttempts } from '#shared/capture/budget.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { type CaptureMessage, startedCodec } from '#shared/queue/messages.ts'
import { lastMessage } from '#shared/queue/stored.ts'
import { resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { resultsStream } from '#shared/queue/topology.ts'

/** The attempt to run. */
export type NextAttempt = {
  /** From 1. */
  readonly attempt: number
  /** How often it was handed back because its browser ended or its connections broke. */
  readonly handBacks: number
  /** Whether it was handed back before, so that its sealed address may have been used. */
  readonly isRepeat: boolean
}

/** The progress of a delivered capture: ended, out of attempts, or its next attempt. */
export type Progress = 'ended' | 'no-attempt-left' | NextAttempt

/** Ignores a report that breaks its schema, as the ledger does. */
const readStarted = (stored: Uint8Array | undefined): NextAttempt => {
  const first = { attempt: 1, handBacks: 0, isRepeat: false }
  if (!stored) return first
  try {
    const { kind, attempt, handBacks = 0 } = startedCodec.decode(stored)
    return kind === 'begun' ? { ...first, attempt: attempt + 1 } : { attempt, handBacks, isRepeat: true }
  } catch (error) {
    if (error instanceof AppError) return first
    throw error
  }
}

/**
 * Reads the progress of a capture. Of the attempts in its message and in the last report of a worker, the larger number
 * counts. Delivery counts are not used: a broker can lose them, and raises them without an attempt.
 */
export const readProgress = async (
  queue: Pick<Queue, 'request'>,
  capture: Pick<CaptureMessage, 'pool' | 'id' | 'attempts'>,
): Promise<Progress> => {
  const [result, started] = await Promise.all([
    lastMessage(queue, resultsStream.name, resultSubject(capture)),
    lastMessage(queue, resultsStream.name, startedSubject(capture)),
  ])
  if (result) return 'ended'
  const next = readStarted(started?.data)
  const attempt = Math.max(capture.attempts + 1, next.attempt)
  if (attempt > maxAttempts) return 'no-attempt-left'
  return attempt === next.attempt ? next : { attempt, handBacks: 0, isRepeat: false }
}
