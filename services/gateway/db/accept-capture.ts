import type { Lane, Pool } from '#shared/capture/lane.ts'
import {
  type Caller,
  type Refusal,
  requestColumns,
  type RequestRow,
  type Shared,
  toVerdict,
  type TogetherRow,
} from '#shared/db/check-request.ts'
import { callByName } from '#shared/db/call-by-name.ts'
import { onlyRow, type Sql } from '#shared/db/connection.ts'

/** Identifies a repeated request: its `Idempotency-Key`, and a SHA-256 of its content. */
export type Idempotency = { readonly key: string; readonly requestSha256: Buffer }

/** The cache key of captures that may share a result, and for how many seconds from its completion. */
export type Sharing = { readonly key: Buffer; readonly seconds: number }

/** A capture to accept: all fields that the database does not set. */
export type NewCapture = {
  /** A UUID of version 7: ordered by time, so that index entries are written next to each other. */
  readonly id: string
  /** HMAC-SHA256 of the API key, or of a session's token, under the pepper; null for an operator acting for an account. */
  readonly keyHash: Buffer | null
  /** Instead of a key. A disabled account is refused with `INVALID_API_KEY`, as its keys are. */
  readonly accountId?: string
  /** Host of the `Origin`, else of the `Referer` header; null if both are missing or the first present one has no host. */
  readonly originHost: string | null
  readonly features: readonly string[]
  readonly pool: Pool
  readonly lane: Lane
  readonly url: string | null
  /** The record's `options`, secrets masked. */
  readonly options: Readonly<Record<string, unknown>>
  readonly sealed: Buffer
  /** SHA-256 of the token that a result must contain. */
  readonly tokenHash: Buffer
  readonly budgetMs: number
  /** Receiver of the completion event, secrets unmasked, as serialised by the URL parser. */
  readonly webhookUrl?: string | undefined
  /** Absent: its result is not shared. */
  readonly sharing?: Sharing | undefined
  readonly idempotency?: Idempotency | undefined
  /** W3C trace context of its request. */
  readonly traceparent?: string | undefined
  /** `X-Request-Id` of its request. */
  readonly requestId?: string | undefined
  /** SHA-256 of the lists of targets that it was sealed with; absent: they are empty. */
  readonly targetsSha256?: Buffer | undefined
}

/** A new capture, or the one that an earlier identical request created. */
export type Accepted = {
  readonly ok: true
  readonly caller: Caller
  readonly createdAt: string
  /** The account's window has room: the caller is to publish it immediately. */
  readonly admitted: boolean
  /** Set if it shares the result of another capture: the caller does not publish it. */
  readonly shared?: Shared | undefined
  /** Id of the capture or batch that an earlier identical request created; nothing was stored. */
  readonly replayOf?: string | undefined
}

/** The outcome for a new capture. */
export type AcceptOutcome = Accepted | Refusal

/** Reads the outcome from a row of an accept function. */
export const toOutcome = (row: RequestRow): AcceptOutcome => {
  const verdict = toVerdict(row)
  if (!verdict.ok) return verdict
  const { createdAt, admitted, shared, replayOf } = row
  return { ...verdict, createdAt, admitted, ...(shared && { shared }), ...(replayOf && { replayOf }) }
}

/** Age from which the ledger's relay publishes an outbox row; before, the gateway's publisher does. */
const relayAfterMs = 2000

/** The parameters of all accept functions that are the same for all captures, by name. `windowSize` as for `acceptCapture`. */
export const commonParameters = (windowSize: number) => ({ window: windowSize, relay_after_ms: relayAfterMs })

/** What all accept functions need of a capture. */
export type CommonCapture = Pick<
  NewCapture,
  | 'keyHash'
  | 'accountId'
  | 'originHost'
  | 'features'
  | 'pool'
  | 'lane'
  | 'budgetMs'
  | 'webhookUrl'
  | 'idempotency'
  | 'traceparent'
  | 'requestId'
  | 'targetsSha256'
>

/** Its parameters, by name. */
export const acceptParameters = (capture: CommonCapture) => ({
  key_hash: capture.keyHash,
  account_id: capture.accountId ?? null,
  origin_host: capture.originHost,
  features: capture.features,
  pool: capture.pool,
  lane: capture.lane,
  budget_ms: capture.budgetMs,
  webhook_url: capture.webhookUrl,
  idempotency_key: capture.idempotency?.key,
  request_sha256: capture.idempotency?.requestSha256,
  traceparent: capture.traceparent,
  request_id: capture.requestId,
  targets_sha256: capture.targetsSha256,
})

/** The parameters of a capture by itself. */
const captureParameters = (capture: NewCapture) => ({
  ...acceptParameters(capture),
  id: capture.id,
  url: capture.url,
  options: JSON.stringify(capture.options),
  sealed: capture.sealed,
  token_hash: capture.tokenHash,
  cache_key: capture.sharing?.key,
  cache_seconds: capture.sharing?.seconds,
})

/**
 * Accepts a capture or returns the refusal, in one round trip; `sql/accept-capture.sql` documents the order of the checks.
 * `checkOnly`: stops after the features and the idempotency key, and stores only the minute count. `windowSize` bounds how many captures of one
 * account, pool and lane are admitted and have not begun, on a plan of weight 1. `counted`: the minute count is not incremented,
 * because `checkRequest` has already counted this request, or an operator made it.
 */
export const acceptCapture = async (
  database: Sql,
  capture: NewCapture,
  options: { windowSize: number; checkOnly?: boolean; counted?: boolean },
): Promise<AcceptOutcome> => {
  const { call, values } = callByName('accept_capture', {
    ...commonParameters(options.windowSize),
    ...captureParameters(capture),
    counted: options.counted ?? false,
    check_only: options.checkOnly ?? false,
  })
  return toOutcome(onlyRow(await database.query<RequestRow>(`select ${requestColumns} from ${call}`, values, 'keep')))
}

/** A capture to accept; `counted` as for `acceptCapture`. */
export type AcceptRequest = { readonly capture: NewCapture; readonly counted: boolean }

const rowOf = ({ capture, counted }: AcceptRequest) => ({
  ...captureParameters(capture),
  features: `{${capture.features.join(',')}}`,
  counted,
})

/**
 * Accepts captures of several requests in one round trip and transaction: their outcomes in the order of the requests. `locked`: another
 * transaction had locked the account, the request had no effect and is to be repeated with `waits`, without those of other accounts.
 */
export const acceptCaptures = async (
  database: Sql,
  requests: readonly AcceptRequest[],
  { windowSize, waits }: { readonly windowSize: number; readonly waits: boolean },
): Promise<(AcceptOutcome | 'locked')[]> => {
  const rows = requests.map(rowOf)
  const columns = Object.keys(rows[0] ?? {}) as (keyof (typeof rows)[number])[]
  const { call, values } = callByName('accept_captures', {
    ...commonParameters(windowSize),
    waits,
    ...Object.fromEntries(columns.map((column) => [column, rows.map((row) => row[column] ?? null)])),
  })
  const statement = `select place, locked, ${requestColumns} from (select place, locked, (outcome).* from ${call} as f) as o`
  const outcomes: (AcceptOutcome | 'locked')[] = []
  for (const { place, locked, ...row } of await database.query<TogetherRow>(statement, values, 'keep'))
    outcomes[place - 1] = locked ? 'locked' : toOutcome(row)
  return outcomes
}
