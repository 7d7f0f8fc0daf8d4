import type { Failure } from '#shared/errors/delivery-failures.ts'

/**
 * The outcome of an attempt; `not_tried` if egress or the object store was unreachable, through no fault of the receiver.
 * `requestedMs`: the wait before the next attempt that the receiver requested. `answer`: the first line of its refusal, or the code of an S3 store.
 */
export type Outcome =
  | {
      readonly status: number | null
      readonly failure: Failure | null
      readonly requestedMs?: number
      readonly answer?: string
    }
  | 'not_tried'

/** Thrown if no connection to a receiver can be opened, with the reason. */
export class NoConnection extends Error {
  readonly reason: Failure | 'not_tried'

  constructor(reason: Failure | 'not_tried', cause?: unknown) {
    super(reason, { cause })
    this.name = 'NoConnection'
    this.reason = reason
  }
}
