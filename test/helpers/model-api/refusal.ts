import type { Status } from '#shared/kube/kube-error.ts'

/** The rejection of a request, with the real server's response. */
export class Refusal extends Error {
  readonly status: Required<Status>
  readonly retryAfterSeconds: number | undefined

  constructor(status: Required<Status>, retryAfterSeconds?: number) {
    super(status.message)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export const refuse = (code: number, reason: string, message: string): Refusal => new Refusal({ code, reason, message })

/** The object does not exist. */
export const refuseMissing = (plural: string, name: string): Refusal =>
  refuse(404, 'NotFound', `${plural} "${name}" not found`)

/** The object has a different uid or resourceVersion. */
export const refuseConflict = (plural: string, name: string, why: string): Refusal =>
  refuse(409, 'Conflict', `Operation cannot be fulfilled on ${plural} "${name}": ${why}`)
