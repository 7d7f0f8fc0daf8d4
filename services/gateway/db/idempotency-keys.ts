import type { Idempotency } from './accept-capture.ts'
import { onlyRow, type Sql } from '#shared/db/connection.ts'

/** A request that came with an `Idempotency-Key`. */
export type KeyedRequest = Idempotency & {
  readonly accountId: string
  /** The capture in its path; deleting the capture deletes the key. */
  readonly captureId: string | undefined
  /** The webhook in its path, or that it created; deleting the webhook deletes the key. */
  readonly webhookId: string | undefined
}

/** A claimed request, until its response is stored, its key released, or, after a minute, another request claims the key. */
export type ClaimedRequest = KeyedRequest & { readonly claimedAt: string }

/** The outcome of a claim, see `sql/claim-answer.sql`; `claimed`: the caller is to serve the request. */
type Claim =
  | { readonly outcome: 'claimed'; readonly claimedAt: string }
  | { readonly outcome: 'running' | 'mismatch' }
  | { readonly outcome: 'kept'; readonly answer: Buffer }

/** Claims a request for the caller, which then stores its response or releases the key. */
export const claimKey = async (database: Sql, request: KeyedRequest): Promise<Claim> => {
  const { accountId, key, requestSha256, captureId, webhookId } = request
  const statement = 'select outcome, answer, claimed_at::text as "claimedAt" from claim_answer($1, $2, $3, $4, $5)'
  const parameters = [accountId, key, requestSha256, captureId ?? null, webhookId ?? null]
  return onlyRow(await database.query<Claim>(statement, parameters))
}

const isHeld = 'account_id = $1 and key = $2 and created_at = $3::timestamptz and serving'

/** Stores the response to a claimed request for the lifetime of its key, unless another request has claimed it since. */
export const storeResponse = async (database: Sql, request: ClaimedRequest, answer: Buffer): Promise<void> => {
  const { accountId, key, claimedAt, webhookId } = request
  const statement = `update idempotency_key set answer = $4, serving = false, webhook_id = $5 where ${isHeld}`
  await database.query(statement, [accountId, key, claimedAt, answer, webhookId ?? null])
}

/** Releases the key of a failed request, unless another request has claimed it since. */
export const releaseKey = async (database: Sql, { accountId, key, claimedAt }: ClaimedRequest): Promise<void> => {
  await database.query(`delete from idempotency_key where ${isHeld}`, [accountId, key, claimedAt])
}
