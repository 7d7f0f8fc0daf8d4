import type { Idempotency } from './accept-capture.ts'
import { onlyRow, type Sql } from '#shared/db/connection.ts'

/** A request that came with an `Idempotency-Key`. */
export type KeyedRequest = Idempotency & {
  readonly accountId: string
  /** The capture that it is about: with it the key goes. */
  readonly captureId: string | undefined
  /** The webhook that it is about, or has made: with it the key goes. */
  readonly webhookId: string | undefined
}

/** A request that its caller has claimed, until it keeps the answer, gives the key back, or is late and another claims it. */
export type ClaimedRequest = KeyedRequest & { readonly claimedAt: string }

/** What becomes of such a request: see `sql/claim-answer.sql`; `claimed`: it is the caller's to serve. */
type Claim =
  | { readonly outcome: 'claimed'; readonly claimedAt: string }
  | { readonly outcome: 'running' | 'mismatch' }
  | { readonly outcome: 'kept'; readonly answer: Buffer }

/** Claims a request for the caller, who then keeps its answer or gives the key back. */
export const claimAnswer = async (database: Sql, request: KeyedRequest): Promise<Claim> => {
  const { accountId, key, requestSha256, captureId, webhookId } = request
  const statement = 'select outcome, answer, claimed_at::text as "claimedAt" from claim_answer($1, $2, $3, $4, $5)'
  const parameters = [accountId, key, requestSha256, captureId ?? null, webhookId ?? null]
  return onlyRow(await database.query<Claim>(statement, parameters))
}

const isHeld = 'account_id = $1 and key = $2 and created_at = $3::timestamptz and serving'

/** Keeps the answer of a request that was claimed and that nobody has taken over, as long as its key counts. */
export const keepAnswer = async (database: Sql, request: ClaimedRequest, answer: Buffer): Promise<void> => {
  const { accountId, key, claimedAt, webhookId } = request
  const statement = `update idempotency_key set answer = $4, serving = false, webhook_id = $5 where ${isHeld}`
  await database.query(statement, [accountId, key, claimedAt, answer, webhookId ?? null])
}

/** Gives the key of a claimed request back, which was refused, unless another has taken it over. */
export const giveBackKey = async (database: Sql, { accountId, key, claimedAt }: ClaimedRequest): Promise<void> => {
  await database.query(`delete from idempotency_key where ${isHeld}`, [accountId, key, claimedAt])
}
