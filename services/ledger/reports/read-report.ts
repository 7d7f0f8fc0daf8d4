import type { Pool } from '#shared/capture/lane.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { resultCodec, type ResultMessage, startedCodec, type StartedMessage } from '#shared/queue/messages.ts'
import { parseReportSubject } from '#shared/queue/subjects.ts'

/** A report on one capture, by a worker of `pool`: how an attempt began, or how it ended. */
export type Report = { readonly pool: Pool; readonly id: string } & (
  | { readonly kind: 'started'; readonly message: StartedMessage }
  | { readonly kind: 'result'; readonly message: ResultMessage }
)

const decode = (subject: string, data: Uint8Array): Report | undefined => {
  const of = parseReportSubject(subject)
  if (!of) return undefined
  const { pool, id } = of
  const report: Report =
    of.kind === 'started'
      ? { kind: of.kind, pool, id, message: startedCodec.decode(data) }
      : { kind: of.kind, pool, id, message: resultCodec.decode(data) }
  return report.message.id === id ? report : undefined
}

/** Reads what stands in the results stream; undefined where it breaks its schema, or speaks of another capture than its subject. */
export const readReport = (subject: string, data: Uint8Array): Report | undefined => {
  try {
    return decode(subject, data)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
