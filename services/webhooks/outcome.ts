import type { Failure } from '#shared/errors/delivery-failures.ts'

/** The outcome of an attempt; `not_tried` where egress could not be reached, through no fault of the receiver. */
export type Outcome = { readonly status: number | null; readonly failure: Failure | null } | 'not_tried'

/** Thrown on the way to a receiver: why there is no connection. */
export class NoConnection extends Error {
  readonly reason: Failure | 'not_tried'

  constructor(reason: Failure | 'not_tried', cause?: unknown) {
    super(reason, { cause })
    this.name = 'NoConnection'
    this.reason = reason
  }
}
