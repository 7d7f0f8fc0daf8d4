import type { Lane, Pool } from '#shared/capture/lane.ts'

/** Minute window of an account; absent parts: the plan has no such limit. */
export type RateState = { readonly limit: number; readonly remaining: number; readonly resetUnix: number }

/** Quota of an account in its period. `limit` and `remaining` are null on a plan without a limit. */
export type UsageState = {
  readonly limit: number | null
  readonly remaining: number | null
  /** ISO 8601 UTC. */
  readonly resetAt: string
  readonly overage: number
  /** Exact decimal as text; null where overage is not offered. */
  readonly overagePrice: string | null
}

/** What is known of the caller once the key was found. */
export type Caller = {
  readonly accountId: string
  readonly plan: string
  readonly rate: RateState | null
  readonly usage: UsageState
}

/** Why the database refused a request; `caller` is absent only for an unknown key. */
export type Refusal = {
  readonly ok: false
  readonly code:
    | 'INVALID_API_KEY'
    | 'DOMAIN_NOT_ALLOWED'
    | 'RATE_LIMIT_EXCEEDED'
    | 'FEATURE_NOT_AVAILABLE'
    | 'QUEUE_FULL'
    | 'USAGE_LIMIT_EXCEEDED'
  /** For `FEATURE_NOT_AVAILABLE`: the first feature that the plan lacks. */
  readonly feature?: string
  readonly retryAfterSeconds?: number
  readonly caller?: Caller
}

/** A capture to accept: everything but what the database knows. */
export type NewCapture = {
  readonly id: string
  /** HMAC-SHA256 of the API key under the pepper. */
  readonly keyHash: Buffer
  /** Host of the `Origin`, else of the `Referer` header; null where neither is there or it is not a host. */
  readonly originHost: string | null
  readonly features: readonly string[]
  readonly pool: Pool
  readonly lane: Lane
  readonly url: string | null
  /** The record's `options`, secrets masked. */
  readonly options: Readonly<Record<string, unknown>>
  readonly sealed: Buffer
  /** SHA-256 of the token that a result must carry. */
  readonly tokenHash: Buffer
  readonly budgetMs: number
}

/** The verdict on a new capture. `admitted`: there is room in the account's window, so the caller publishes it at once. */
export type AcceptOutcome =
  | { readonly ok: true; readonly caller: Caller; readonly createdAt: string; readonly admitted: boolean }
  | Refusal
