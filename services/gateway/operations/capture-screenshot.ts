import { newId } from '#shared/db/new-id.ts'
import { createCapture } from '#gateway/accept/create-capture.ts'
import { readCaptureRequest } from '#gateway/accept/read-request.ts'
import { answerGoesOn } from '#gateway/answer/goes-on.ts'
import type { Context } from '#gateway/context.ts'
import type { Answer, Exchange } from '#gateway/http/exchange.ts'
import { captureAtOnce } from './capture-at-once.ts'
import type { Operation } from './operation.ts'

const capture = async (context: Context, exchange: Exchange, from: 'query' | 'body'): Promise<Answer> => {
  const request = await readCaptureRequest(context, exchange, { operation: 'capture', from })
  const { response_type: response = 'image', webhook_url: webhookUrl } = request.parsed.options
  if (webhookUrl === undefined) return await captureAtOnce(context, exchange, { request, response })
  const created = await createCapture(context, exchange, { id: newId(), lane: 'normal', request })
  return answerGoesOn(context, created)
}

/**
 * `GET /screenshots/capture`: captures and answers with the image, or with the record where that is wanted; with a webhook
 * it answers at once. Parameters stand in the query.
 */
export const captureByQuery: Operation = (context, exchange) => capture(context, exchange, 'query')

/** `POST /screenshots/capture`: as `captureByQuery`; parameters stand in the body. */
export const captureByBody: Operation = (context, exchange) => capture(context, exchange, 'body')
