import type { Pool } from '#shared/capture/lane.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { resultCodec, type ResultMessage, startedCodec, type StartedMessage } from '#shared/queue/messages.ts'
import { parseReportSubject } from '#shared/queue/subjects.ts'

/**
 * A report on one capture, by a worker of `pool`: how an attempt began, or how it ended. `storedAtMs` is when it was stored,
 * by the clock of NATS, in milliseconds since 1970.
 */
export type Report = { readonly pool: Pool; readonly id: string; readonly storedAtMs: number } & (
  | { readonly kind: 'started'; readonly message: StartedMessage }
  | { readonly kind: 'result'; readonly message: ResultMessage }
)

/** A message of the results stream. */
type Stored = { readonly subject: string; readonly data: Uint8Array; readonly storedAtMs: number }

const decode = ({ subject, data, storedAtMs }: Stored): Report | undefined => {
  const parsed = parseReportSubject(subject)
  if (!parsed) return undefined
  const { pool, id } = parsed
  const about = { pool, id, storedAtMs }
  const report: Report =
    parsed.kind === 'started'
      ? { kind: parsed.kind, ...about, message: startedCodec.decode(data) }
      : { kind: parsed.kind, ...about, message: resultCodec.decode(data) }
  return report.message.id === id ? report : undefined
}

/** Reads a message of the results stream; undefined if it breaks its schema, or its id differs from that of its subject. */
export const readReport = (stored: Stored): Report | undefined => {
  try {
    return decode(stored)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
