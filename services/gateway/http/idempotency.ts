import { createHash, createSecretKey, hkdfSync } from 'node:crypto'
import type { Caller } from '#shared/db/check-request.ts'
import type { Idempotency } from '#gateway/db/accept-capture.ts'
import {
  claimKey,
  type ClaimedRequest,
  releaseKey,
  storeResponse,
  type KeyedRequest,
} from '#gateway/db/idempotency-keys.ts'
import { keySchema, visibleAscii } from '#gateway/openapi/schema/contract.ts'
import { AppError, type FieldErrors } from '#shared/errors/app-error.ts'
import type { Sql } from '#shared/db/connection.ts'
import { decrypt, encrypt } from '#shared/db/encrypt.ts'
import type { Answer } from './answer.ts'
import { validationError } from './errors.ts'
import { type Exchange, pathId } from './exchange.ts'

/** A JSON response, as stored and replayed. */
type StoredResponse = { readonly status: number; readonly body: Readonly<Record<string, unknown>> }

/** Encrypts responses, since some contain secrets shown once, and binds each to its request. A different HKDF label would make stored ones unreadable. */
const createSeal = (pepper: string) => {
  const secret = createSecretKey(Buffer.from(hkdfSync('sha256', pepper, '', 'shutterfleet kept answers', 32)))
  const boundTo = ({ accountId, key, requestSha256 }: KeyedRequest) =>
    JSON.stringify([accountId, key, requestSha256.toString('hex')])
  return {
    seal: (request: KeyedRequest, answer: StoredResponse): Buffer =>
      encrypt(secret, boundTo(request), JSON.stringify(answer)),
    open: (request: KeyedRequest, sealed: Buffer): StoredResponse =>
      JSON.parse(decrypt(secret, boundTo(request), sealed)) as StoredResponse,
  }
}

/** Responses to requests with an `Idempotency-Key` that create no capture. All methods throw `SERVICE_UNAVAILABLE` if the database is unavailable. */
export type IdempotencyStore = ReturnType<typeof idempotencyStoreIn>

/** Stores responses in the database, encrypted under a key derived from `pepper`, with which API keys are hashed. */
export const idempotencyStoreIn = (database: Sql, pepper: string) => {
  const { seal, open } = createSeal(pepper)
  return {
    claim: async (request: KeyedRequest) => {
      const claim = await claimKey(database, request)
      return claim.outcome === 'kept' ? { ...claim, answer: open(request, claim.answer) } : claim
    },
    save: (request: ClaimedRequest, answer: StoredResponse) => storeResponse(database, request, seal(request, answer)),
    release: (request: ClaimedRequest) => releaseKey(database, request),
  }
}

const header = 'Idempotency-Key'
/** `Retry-After` while the first request is still being served. */
const retryAfterSeconds = 1

const keyOf = ({ headers }: Pick<Exchange, 'headers'>): string | undefined =>
  // Node joins repeated headers with a comma and a space, which no valid key contains.
  headers[header.toLowerCase()] as string | undefined

/** Validation errors of the `Idempotency-Key` header, which is optional: 1 to 255 visible ASCII characters. */
export const idempotencyErrors = (exchange: Pick<Exchange, 'headers'>): FieldErrors => {
  const key = keyOf(exchange)
  if (key === undefined || (key.length <= keySchema.maxLength && visibleAscii.test(key))) return {}
  return { [header]: [`must be given once, as 1 to ${keySchema.maxLength} visible ASCII characters`] }
}

/** Idempotency key and request hash; undefined if the request has no key. `body` as sent. */
export const idempotencyOf = (
  exchange: Pick<Exchange, 'headers'>,
  operation: string,
  body: Buffer,
): Idempotency | undefined => {
  const key = keyOf(exchange)
  if (key === undefined) return undefined
  return { key, requestSha256: createHash('sha256').update(operation).update('\0').update(body).digest() }
}

/** A request to be served idempotently. */
type IdempotentRequest = {
  readonly operation: { readonly name: string; readonly path: string }
  readonly exchange: Pick<Exchange, 'headers' | 'params' | 'query' | 'readBody'>
  readonly caller: Caller
  /** Hash of the key or session that alone may repeat the request; undefined: all of the account may. */
  readonly issuer?: Buffer | undefined
}

const keyedRequest = async ({
  operation,
  exchange,
  caller,
  issuer,
}: IdempotentRequest): Promise<KeyedRequest | undefined> => {
  if (keyOf(exchange) === undefined) return undefined
  const errors = idempotencyErrors(exchange)
  if (Object.keys(errors).length > 0) throw validationError(errors)
  const who = issuer ? [issuer.toString('hex')] : []
  const operationText = [operation.name, ...who, ...Object.values(exchange.params), exchange.query].join(' ')
  const idempotency = idempotencyOf(exchange, operationText, await exchange.readBody())
  const idUnder = (prefix: string) => (operation.path.startsWith(`${prefix}/:id`) ? pathId(exchange) : undefined)
  return (
    idempotency && {
      ...idempotency,
      accountId: caller.accountId,
      captureId: idUnder('/screenshots'),
      webhookId: idUnder('/webhooks'),
    }
  )
}

const serveClaimed = async (
  store: IdempotencyStore,
  request: ClaimedRequest,
  { path, run }: { readonly path: string; readonly run: () => Promise<Answer> },
): Promise<Answer> => {
  let answer: Answer
  try {
    answer = await run()
  } catch (error) {
    // If this fails too, the claim expires after a minute.
    await store.release(request).catch(() => {})
    throw error
  }
  const { status, body } = answer as { status: number; body: { data: { id: string } } }
  const webhookId = path === '/webhooks' ? body.data.id : request.webhookId
  // If this fails, the response is still sent; a retry within 24 hours is executed again.
  await store.save({ ...request, webhookId }, { status, body }).catch(() => {})
  return answer
}

/**
 * Serves a POST that creates no capture; a repetition under the same `Idempotency-Key` returns the stored response. A failed
 * request releases its key. Throws `IDEMPOTENCY_MISMATCH` if the key was used for a different request, `SERVICE_UNAVAILABLE`
 * while the first is still being served.
 */
export const answerIdempotently = async (
  store: IdempotencyStore,
  received: IdempotentRequest,
  run: () => Promise<Answer>,
): Promise<Answer> => {
  const request = await keyedRequest(received)
  if (!request) return await run()
  const claim = await store.claim(request)
  if (claim.outcome === 'kept') return { ...claim.answer, isReplay: true }
  if (claim.outcome === 'claimed') {
    return await serveClaimed(store, { ...request, claimedAt: claim.claimedAt }, { path: received.operation.path, run })
  }
  if (claim.outcome === 'mismatch') throw new AppError('IDEMPOTENCY_MISMATCH')
  const publicMessage = 'The same request is still being served.'
  throw new AppError('SERVICE_UNAVAILABLE', { publicMessage, retryAfterSeconds })
}
