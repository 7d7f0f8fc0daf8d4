import type { AcceptOutcome, NewCapture } from '#gateway/db/accept-capture.ts'
import type { Caller, Refusal } from '#shared/db/check-request.ts'
import type { DescribedAccount } from '#gateway/db/describe-account.ts'
import type { AcceptBatchOutcome, NewBatch } from '#gateway/db/accept-batch.ts'
import type { FoundBatch } from '#gateway/db/find-batch.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import type { CaptureFilter, CapturePage, PageStart } from '#gateway/db/list-captures.ts'
import type { Progress } from '#gateway/db/find-progress.ts'

/** Whether a request may be served as far as key, domain and minute limit tell. */
export type CheckOutcome = { readonly ok: true; readonly caller: Caller } | Refusal

/** What the gateway asks the database. Each promise is one round trip; all throw `SERVICE_UNAVAILABLE` where it does not answer. */
export type Captures = {
  readonly hashKey: (key: string) => Buffer
  /** The refusal that a request meets for its key or its minute, where it is known without asking. */
  readonly refused: (request: { keyHash: Buffer; originHost: string | null }) => Refusal | undefined
  /** Whether a key is valid now, counted against no minute. Many that are asked for at a time are one round trip. */
  readonly isValidKey: (keyHash: Buffer) => Promise<boolean>
  /** `counted`: `check` has let this request through already. */
  readonly accept: (capture: NewCapture, counted: boolean) => Promise<AcceptOutcome>
  /** The verdict that `accept` would give, with nothing stored but the minute count. */
  readonly tryAccept: (capture: NewCapture, counted: boolean) => Promise<AcceptOutcome>
  /** As `accept`, for all captures of a batch or none. */
  readonly acceptBatch: (batch: NewBatch, counted: boolean) => Promise<AcceptBatchOutcome>
  readonly check: (request: { keyHash: Buffer; originHost: string | null }) => Promise<CheckOutcome>
  readonly find: (of: { id: string; accountId: string }) => Promise<FoundCapture | undefined>
  readonly list: (filter: CaptureFilter, page: { start: PageStart; limit: number }) => Promise<CapturePage>
  readonly describeAccount: (accountId: string) => Promise<DescribedAccount | undefined>
  readonly findBatch: (of: { id: string; accountId: string }) => Promise<FoundBatch | undefined>
  /** Answers whether the account had such a capture. */
  readonly remove: (of: { id: string; accountId: string }) => Promise<boolean>
  /** Whether the plan has signed links, and whether the capture is the account's. */
  readonly maySign: (of: { id: string; accountId: string }) => Promise<{ allowed: boolean; found: boolean }>
  /** A capture of any account: only for whoever has a link that was signed for it. */
  readonly findLinked: (id: string) => Promise<FoundCapture | undefined>
  readonly findProgress: (ids: readonly string[]) => Promise<Progress[]>
}
