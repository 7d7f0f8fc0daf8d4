import type { Status } from '#shared/kube/kube-error.ts'

/** The rejection of a request, with the real server's response. */
export class StatusError extends Error {
  readonly status: Required<Status>
  readonly retryAfterSeconds: number | undefined

  constructor(status: Required<Status>, retryAfterSeconds?: number) {
    super(status.message)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export const statusError = (code: number, reason: string, message: string): StatusError =>
  new StatusError({ code, reason, message })

/** The object does not exist. */
export const notFoundError = (plural: string, name: string): StatusError =>
  statusError(404, 'NotFound', `${plural} "${name}" not found`)

/** The object has a different uid or resourceVersion. */
export const conflictError = (plural: string, name: string, why: string): StatusError =>
  statusError(409, 'Conflict', `Operation cannot be fulfilled on ${plural} "${name}": ${why}`)
