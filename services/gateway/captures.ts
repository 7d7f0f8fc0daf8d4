import type { AcceptOutcome, Caller, NewCapture, Refusal } from '#shared/db/accept-capture.ts'
import type { BatchProgress } from '#shared/db/find-batch-progress.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import type { Progress } from '#shared/db/find-progress.ts'

/** Whether a request may be served as far as key, domain and minute limit tell. */
export type CheckOutcome = { readonly ok: true; readonly caller: Caller } | Refusal

/** What the gateway asks the database. Each call is one round trip; all throw `SERVICE_UNAVAILABLE` where it does not answer. */
export type Captures = {
  readonly hashKey: (key: string) => Buffer
  /** `counted`: `check` has let this request through already. */
  readonly accept: (capture: NewCapture, counted: boolean) => Promise<AcceptOutcome>
  /** The verdict that `accept` would give, with nothing stored but the minute count. */
  readonly tryAccept: (capture: NewCapture, counted: boolean) => Promise<AcceptOutcome>
  readonly check: (request: { keyHash: Buffer; originHost: string | null }) => Promise<CheckOutcome>
  readonly find: (of: { id: string; accountId: string }) => Promise<FoundCapture | undefined>
  readonly findProgress: (ids: readonly string[]) => Promise<Progress[]>
  readonly findBatchProgress: (of: { id: string; accountId: string }) => Promise<BatchProgress | undefined>
}
