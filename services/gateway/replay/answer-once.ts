import type { ClaimedRequest, KeyedRequest } from '#shared/db/kept-answers.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import { authorize } from '#gateway/http/authorize.ts'
import type { Answer, Exchange } from '#gateway/http/exchange.ts'
import { idempotencyFaults, idempotencyOf } from '#gateway/http/idempotency.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { validationError } from '#gateway/http/read-parameters.ts'

/** What is served, as far as it tells requests apart. */
type Served = { readonly name: string; readonly path: string }

const againSeconds = 1

const keyedRequest = async (
  context: Context,
  exchange: Exchange,
  { name, path }: Served,
): Promise<KeyedRequest | undefined> => {
  if (exchange.headers['idempotency-key'] === undefined) return undefined
  const { accountId } = await authorize(context, exchange)
  const faults = idempotencyFaults(exchange)
  if (Object.keys(faults).length > 0) throw validationError(faults)
  const asked = [name, ...Object.values(exchange.params), exchange.query].join(' ')
  const idempotency = idempotencyOf(exchange, asked, await exchange.readBody())
  const idUnder = (prefix: string) => (path.startsWith(`${prefix}/:id`) ? pathId(exchange) : undefined)
  return (
    idempotency && { ...idempotency, accountId, captureId: idUnder('/screenshots'), webhookId: idUnder('/webhooks') }
  )
}

const serveClaimed = async (
  context: Context,
  request: ClaimedRequest,
  { path, run }: Pick<Served, 'path'> & { readonly run: () => Promise<Answer> },
): Promise<Answer> => {
  let answer: Answer
  try {
    answer = await run()
  } catch (error) {
    // Where that fails too the key is free again after a minute.
    await context.keptAnswers.giveBack(request).catch(() => {})
    throw error
  }
  const { status, body } = answer as { status: number; body: { data: { id: string } } }
  const webhookId = path === '/webhooks' ? body.data.id : request.webhookId
  // The caller has its answer all the same; only a repetition in the next 24 hours would not know of it.
  await context.keptAnswers.keep({ ...request, webhookId }, { status, body }).catch(() => {})
  return answer
}

/**
 * Serves a POST that accepts no capture: one that came before under the same `Idempotency-Key` is answered as it was then.
 * A request that is refused leaves its key free. Throws `IDEMPOTENCY_MISMATCH` where the key belongs to another request,
 * `SERVICE_UNAVAILABLE` while the first is still being served.
 */
export const answerOnce = async (
  context: Context,
  exchange: Exchange,
  served: Served & { readonly run: (context: Context, exchange: Exchange) => Promise<Answer> },
): Promise<Answer> => {
  const run = () => served.run(context, exchange)
  const request = await keyedRequest(context, exchange, served)
  if (!request) return await run()
  const claim = await context.keptAnswers.claim(request)
  if (claim.outcome === 'kept') {
    exchange.isReplay = true
    return claim.answer
  }
  if (claim.outcome === 'claimed') {
    const { claimedAt } = claim
    return await serveClaimed(context, { ...request, claimedAt }, { path: served.path, run })
  }
  if (claim.outcome === 'mismatch') throw new AppError('IDEMPOTENCY_MISMATCH')
  const publicMessage = 'The same request is still being served.'
  throw new AppError('SERVICE_UNAVAILABLE', { publicMessage, retryAfterSeconds: againSeconds })
}
