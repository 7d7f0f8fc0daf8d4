import { maxAttempts } from '#shared/capture/budget.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { type CaptureMessage, startedCodec } from '#shared/queue/messages.ts'
import { lastMessage } from '#shared/queue/stored.ts'
import { resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { resultsStream } from '#shared/queue/topology.ts'

/** The attempt that a worker is to run, from 1, and how often it was handed back so far. */
export type NextAttempt = { readonly attempt: number; readonly handBacks: number }

/** What a delivered capture is to its worker: over already, out of attempts, or to be run. */
export type Progress = 'ended' | 'no-attempt-left' | NextAttempt

/** A report that breaks its schema counts for nothing, as with the ledger: no repetition would make it readable. */
const readStarted = (stored: Uint8Array | undefined): NextAttempt => {
  const first = { attempt: 1, handBacks: 0 }
  if (!stored) return first
  try {
    const { kind, attempt, handBacks = 0 } = startedCodec.decode(stored)
    return kind === 'begun' ? { attempt: attempt + 1, handBacks: 0 } : { attempt, handBacks }
  } catch (error) {
    if (error instanceof AppError) return first
    throw error
  }
}

/**
 * Reads how far a capture has come. The larger count of begun attempts holds: the one that the message was published
 * with, or the last report of a worker. Delivery counts are no evidence: a broker forgets them, and raises them by itself.
 */
export const readProgress = async (
  queue: Queue,
  of: Pick<CaptureMessage, 'pool' | 'id' | 'attempts'>,
): Promise<Progress> => {
  const [result, started] = await Promise.all([
    lastMessage(queue, resultsStream.name, resultSubject(of)),
    lastMessage(queue, resultsStream.name, startedSubject(of)),
  ])
  if (result) return 'ended'
  const next = readStarted(started?.data)
  const attempt = Math.max(of.attempts + 1, next.attempt)
  if (attempt > maxAttempts) return 'no-attempt-left'
  return { attempt, handBacks: attempt === next.attempt ? next.handBacks : 0 }
}
