import { createCapture } from '#gateway/accept/create-capture.ts'
import { readCaptureRequest } from '#gateway/accept/read-request.ts'
import { captureUrls } from '#shared/db/record.ts'
import { newId } from '#shared/db/new-id.ts'
import { captureAtOnce } from './capture-at-once.ts'
import type { Operation } from './operation.ts'

/**
 * `POST /screenshots`: accepts a capture and answers with its new record at once; where the image is wanted, and no
 * webhook, it captures as the synchronous operation does.
 */
export const createScreenshot: Operation = async (context, exchange) => {
  const request = await readCaptureRequest(context, exchange, { operation: 'create', from: 'body' })
  const { response_type: response = 'json', webhook_url: webhookUrl } = request.parsed.options
  if (response === 'image' && webhookUrl === undefined)
    return await captureAtOnce(context, exchange, { request, response })
  const created = await createCapture(context, exchange, { id: newId(), lane: 'normal', request })
  const { id, status, url, options, createdAt, shared } = created
  return {
    status: 202,
    headers: {
      location: captureUrls(context.publicUrl(), id).status,
      'x-screenshot-id': id,
      ...(shared === 'hit' && { 'x-cache': 'HIT' }),
    },
    body: { data: { id, status, url, options, created_at: createdAt } },
  }
}
