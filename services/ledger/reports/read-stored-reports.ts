import type { Queue } from '#shared/queue/connection.ts'
import { lastMessage } from '#shared/queue/stored.ts'
import { resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { resultsStream } from '#shared/queue/topology.ts'
import { readReport, type Report } from './read-report.ts'

/** The latest start and the latest result stored for one capture. */
export type StoredReports = Awaited<ReturnType<typeof readStoredReports>>

/** Reads the results stream's messages of a capture. Throws `SERVICE_UNAVAILABLE` after two seconds. */
export const readStoredReports = async (queue: Pick<Queue, 'request'>, capture: Pick<Report, 'pool' | 'id'>) => {
  const last = async (subject: string) => {
    const message = await lastMessage(queue, resultsStream.name, subject)
    return message && { ...message, subject }
  }
  const [started, result] = await Promise.all([last(startedSubject(capture)), last(resultSubject(capture))])
  const stored = [started, result].filter((message) => message !== undefined)
  return {
    /** The readable reports, in the order in which they were stored. */
    reports: stored
      .toSorted((one, other) => one.sequence - other.sequence)
      .flatMap((message) => readReport(message) ?? []),
    /** Sequence of the result in its stream, readable or not. */
    resultSequence: result?.sequence,
    /** When the later one was stored, by the clock of NATS; minus infinity if there is none. */
    newestAtMs: Math.max(...stored.map(({ storedAtMs }) => storedAtMs)),
  }
}
