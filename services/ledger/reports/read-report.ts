import { AppError } from '#shared/errors/app-error.ts'
import { resultCodec, type ResultMessage, startedCodec, type StartedMessage } from '#shared/queue/messages.ts'
import { resultSubject, startedSubject } from '#shared/queue/subjects.ts'

/** A worker's report on one capture: how an attempt began, or how it ended. */
export type Report =
  | { readonly kind: 'started'; readonly id: string; readonly message: StartedMessage }
  | { readonly kind: 'result'; readonly id: string; readonly message: ResultMessage }

const decode = (subject: string, data: Uint8Array): Report | undefined => {
  if (subject.startsWith(startedSubject(''))) {
    const message = startedCodec.decode(data)
    return subject === startedSubject(message.id) ? { kind: 'started', id: message.id, message } : undefined
  }
  const message = resultCodec.decode(data)
  return subject === resultSubject(message.id) ? { kind: 'result', id: message.id, message } : undefined
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
