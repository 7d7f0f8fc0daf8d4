import { ShutterfleetError } from '#client/shutterfleet-error.js'
import { toAppError } from '#shared/errors/app-error.ts'

const describeRejection = ({ code, message, status, screenshotId, cause }: ShutterfleetError): string => {
  // The message of `serviceFetch`.
  if (code === 'UNREACHABLE' && cause instanceof Error) return cause.message
  return status === undefined
    ? `capture ${screenshotId} continues: ${message} 'bin/shutterfleet status' shows the queue`
    : `the service rejected the request: ${code}: ${message}`
}

/** One line for people about an error: the message, with what is wrong with which field, unless it says so itself. */
export const describeError = (thrown: unknown): string => {
  const error = thrown instanceof ShutterfleetError ? thrown : toAppError(thrown)
  const message = error instanceof ShutterfleetError ? describeRejection(error) : error.message
  const problems = Object.entries(error.details ?? {})
    .filter(([, reasons]) => !reasons.every((reason) => message.includes(reason)))
    .map(([field, reasons]) => `${field} ${reasons.join(', ')}`)
  return problems.length === 0 ? message : `${message.replace(/\.$/, '')}: ${problems.join('; ')}`
}
