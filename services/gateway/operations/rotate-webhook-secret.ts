import { AppError } from '#shared/errors/app-error.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import type { Operation } from './operation.ts'

/** `POST /webhooks/{id}/rotate-secret`: makes a new secret and answers it, this once; the old one is signed with for 24 h more. */
export const rotateWebhookSecret: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  const rotated = await context.webhooks.rotate({ accountId, id: pathId(exchange) })
  if (!rotated) throw new AppError('NOT_FOUND')
  return { status: 200, body: { data: { ...rotated.webhook, secret: rotated.secret } } }
}
