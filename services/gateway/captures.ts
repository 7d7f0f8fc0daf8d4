import type { AcceptOutcome, Caller, NewCapture, Refusal } from '#shared/db/accept-capture.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'

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
  /** Answers whether the account had such a capture. */
  readonly remove: (of: { id: string; accountId: string }) => Promise<boolean>
  /** Whether the plan has signed links, and whether the capture is the account's. */
  readonly maySign: (of: { id: string; accountId: string }) => Promise<{ allowed: boolean; found: boolean }>
  /** A capture of any account: only for whoever has a link that was signed for it. */
  readonly findLinked: (id: string) => Promise<FoundCapture | undefined>
}
