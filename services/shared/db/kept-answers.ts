import type { Idempotency } from './accept-capture.ts'
import { onlyRow, type Sql } from './connection.ts'

/** A request that came with an `Idempotency-Key`. */
export type KeyedRequest = Idempotency & {
  readonly accountId: string
  /** The capture that it is about: with it the key goes. */
  readonly captureId: string | undefined
  /** The webhook that it is about, or has made: with it the key goes. */
  readonly webhookId: string | undefined
}

/** What becomes of such a request: see `sql/claim-answer.sql`. */
export type Claim =
  | { readonly outcome: 'claimed' | 'running' | 'mismatch' }
  | { readonly outcome: 'kept'; readonly answer: Buffer }

/** Claims a request for the caller, who then keeps its answer or gives the key back. */
export const claimAnswer = async (database: Sql, request: KeyedRequest): Promise<Claim> => {
  const { accountId, key, requestSha256, captureId, webhookId } = request
  const statement = 'select outcome, answer from claim_answer($1, $2, $3, $4, $5)'
  const parameters = [accountId, key, requestSha256, captureId ?? null, webhookId ?? null]
  return onlyRow(await database.query<Claim>(statement, parameters))
}

/** Keeps the answer of a request that was claimed, as long as its key counts. */
export const keepAnswer = async (database: Sql, request: KeyedRequest, answer: Buffer): Promise<void> => {
  const { accountId, key, requestSha256, webhookId } = request
  const statement = `update idempotency_key set answer = $4, serving = false, webhook_id = $5
    where account_id = $1 and key = $2 and request_sha256 = $3`
  await database.query(statement, [accountId, key, requestSha256, answer, webhookId ?? null])
}

/** Gives the key of a claimed request back, which was refused. */
export const giveBackKey = async (database: Sql, { accountId, key, requestSha256 }: KeyedRequest): Promise<void> => {
  const statement = `delete from idempotency_key
    where account_id = $1 and key = $2 and request_sha256 = $3 and serving`
  await database.query(statement, [accountId, key, requestSha256])
}
