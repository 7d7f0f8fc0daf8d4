import type { Status } from '#shared/kube/kube-error.ts'

/** A request that the model refuses, with what the real server would answer. */
export class Refusal extends Error {
  readonly status: Required<Status>
  readonly retryAfterSeconds: number | undefined

  constructor(status: Required<Status>, retryAfterSeconds?: number) {
    super(status.message)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Makes a refusal. */
export const refuse = (code: number, reason: string, message: string): Refusal => new Refusal({ code, reason, message })

/** Nothing has this name. */
export const refuseMissing = (plural: string, name: string): Refusal =>
  refuse(404, 'NotFound', `${plural} "${name}" not found`)

/** The object is not the one that was meant, or not as it was. */
export const refuseConflict = (plural: string, name: string, why: string): Refusal =>
  refuse(409, 'Conflict', `Operation cannot be fulfilled on ${plural} "${name}": ${why}`)
