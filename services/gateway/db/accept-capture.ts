import type { Lane, Pool } from '#shared/capture/lane.ts'
import {
  type Caller,
  type Refusal,
  requestColumns,
  type RequestRow,
  type Shared,
  verdictOf,
} from '#shared/db/check-request.ts'
import { callByName } from '#shared/db/call-by-name.ts'
import { onlyRow, type Sql } from '#shared/db/connection.ts'

/** What tells a request that is sent again: its `Idempotency-Key`, and the SHA-256 of what it asks for. */
export type Idempotency = { readonly key: string; readonly requestSha256: Buffer }

/** What captures that may share a result have in common, and for how many seconds from its completion. */
export type Sharing = { readonly key: Buffer; readonly seconds: number }

/** A capture to accept: everything but what the database knows. */
export type NewCapture = {
  /** A UUID of version 7: ordered by time, so that its index entries are written side by side. */
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
  /** Where its end is told, with whatever secrets it has, as the URL parser writes it. */
  readonly webhookUrl?: string | undefined
  /** Absent: it shares nothing. */
  readonly sharing?: Sharing | undefined
  readonly idempotency?: Idempotency | undefined
  /** W3C trace context of the request that it came with. */
  readonly traceparent?: string | undefined
}

/** A new capture that was accepted, or an earlier one that the request was accepted as before. */
export type Accepted = {
  readonly ok: true
  readonly caller: Caller
  readonly createdAt: string
  /** There is room in the account's window, so the caller publishes it at once. */
  readonly admitted: boolean
  /** Set where no worker is to see it. */
  readonly shared?: Shared | undefined
  /** Id of what the same request was accepted as before; nothing was stored. */
  readonly replayOf?: string | undefined
}

/** The verdict on a new capture. */
export type AcceptOutcome = Accepted | Refusal

/** Reads the database's verdict on what was to be accepted. */
export const acceptedOf = (row: RequestRow): AcceptOutcome => {
  const verdict = verdictOf(row)
  if (!verdict.ok) return verdict
  const { createdAt, admitted, shared, replayOf } = row
  return { ...verdict, createdAt, admitted, ...(shared && { shared }), ...(replayOf && { replayOf }) }
}

/** How long the gateway's own publishing goes first; then the ledger's relay publishes what still stands in the outbox. */
const relayAfterMs = 2000

/** A capture whoever asks for it. */
type AskedFor = Omit<NewCapture, 'keyHash' | 'originHost'>

/** Whose capture it is, by a key or by the account's id, and whether the minute is left alone. */
type Asker = Pick<NewCapture, 'originHost'> & {
  readonly keyHash: Buffer | null
  readonly accountId: string | null
  readonly counted: boolean
}

/** What the functions that accept have in common, by the names of their parameters. */
export const acceptParameters = (
  of: Pick<NewCapture, 'features' | 'pool' | 'lane' | 'budgetMs' | 'webhookUrl' | 'idempotency' | 'traceparent'>,
  windowSize: number,
) => ({
  window: windowSize,
  relay_after_ms: relayAfterMs,
  features: of.features,
  pool: of.pool,
  lane: of.lane,
  budget_ms: of.budgetMs,
  webhook_url: of.webhookUrl,
  idempotency_key: of.idempotency?.key,
  request_sha256: of.idempotency?.requestSha256,
  traceparent: of.traceparent,
})

const accept = async (
  database: Sql,
  capture: AskedFor,
  { keyHash, originHost, accountId, counted }: Asker,
  options: { windowSize: number; checkOnly?: boolean },
): Promise<AcceptOutcome> => {
  const { call, values } = callByName('accept_capture', {
    ...acceptParameters(capture, options.windowSize),
    key_hash: keyHash,
    origin_host: originHost,
    account_id: accountId,
    counted,
    check_only: options.checkOnly ?? false,
    id: capture.id,
    url: capture.url,
    options: JSON.stringify(capture.options),
    sealed: capture.sealed,
    token_hash: capture.tokenHash,
    cache_key: capture.sharing?.key,
    cache_seconds: capture.sharing?.seconds,
  })
  return acceptedOf(onlyRow(await database.query<RequestRow>(`select ${requestColumns} from ${call}`, values, 'keep')))
}

/**
 * Accepts a capture, or says why not, in one round trip; the order of the checks stands in `sql/accept-capture.sql`. With
 * `checkOnly` it stops after the features and stores nothing but the minute count. `windowSize` bounds how many captures
 * of one account, pool and lane are admitted and have not begun, on a plan of weight 1. `counted`: `checkRequest` has let this
 * request through, so the minute count stays as it is.
 */
export const acceptCapture = (
  database: Sql,
  capture: NewCapture,
  { counted = false, ...options }: { windowSize: number; checkOnly?: boolean; counted?: boolean },
): Promise<AcceptOutcome> => {
  const { keyHash, originHost } = capture
  return accept(database, capture, { keyHash, originHost, accountId: null, counted }, options)
}

/**
 * As `acceptCapture`, for an operator who acts for an account: no key is looked at, and its minute does not count. A
 * disabled account is `INVALID_API_KEY`, as its keys are.
 */
export const acceptCaptureFor = (
  database: Sql,
  accountId: string,
  capture: AskedFor,
  options: { windowSize: number },
): Promise<AcceptOutcome> =>
  accept(database, capture, { keyHash: null, originHost: null, accountId, counted: true }, options)
