import { maxAttempts } from '#shared/capture/budget.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { type CaptureMessage, startedCodec } from '#shared/queue/messages.ts'
import { lastStored } from '#shared/queue/stored.ts'
import { resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { resultsStream } from '#shared/queue/topology.ts'

/** What a delivered capture is to its worker: over already, out of attempts, or to be run as this attempt (from 1). */
export type Progress = 'ended' | 'no-attempt-left' | number

/** A report that breaks its schema counts for nothing, as with the ledger: no repetition would make it readable. */
const begunIn = (stored: Uint8Array | undefined): number => {
  if (!stored) return 0
  try {
    const { kind, attempt } = startedCodec.decode(stored)
    return kind === 'begun' ? attempt : attempt - 1
  } catch (error) {
    if (error instanceof AppError) return 0
    throw error
  }
}

/**
 * Reads how far a capture has come. The larger count of begun attempts holds: the one that the message was published
 * with, or the last report of a worker. Delivery counts say nothing: a broker forgets them, and raises them by itself.
 */
export const readProgress = async (
  queue: Queue,
  of: Pick<CaptureMessage, 'pool' | 'id' | 'attempts'>,
): Promise<Progress> => {
  const [result, started] = await Promise.all([
    lastStored(queue, resultsStream.name, resultSubject(of)),
    lastStored(queue, resultsStream.name, startedSubject(of)),
  ])
  if (result) return 'ended'
  const attempt = Math.max(of.attempts, begunIn(started)) + 1
  return attempt > maxAttempts ? 'no-attempt-left' : attempt
}
