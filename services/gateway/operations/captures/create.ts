import { acceptedHead } from '#gateway/capture/accepted-response.ts'
import { captureSynchronously } from '#gateway/capture/capture-synchronously.ts'
import { createCapture } from '#gateway/capture/create-capture.ts'
import { readCaptureRequest } from '#gateway/capture/read-request.ts'
import { captureSchema } from '#gateway/openapi/capture-parameters.ts'
import { exampleOf, typed } from '#shared/schema/fields.ts'
import { jsonAnswer, jsonContent } from '#gateway/openapi/schema/contract.ts'
import { acceptedScreenshotAnswer, flatScreenshot } from '#gateway/records/capture.ts'
import { operation } from '#gateway/operations/operation.ts'
import { captureErrors, captureExample, resultAnswer } from './capture-answers.ts'

const accepted = jsonAnswer('Accepted.', acceptedScreenshotAnswer, [
  'Location',
  'Retry-After',
  'X-Screenshot-Id',
  'X-Cache',
  'Idempotent-Replayed',
])

/** Accepts a capture and returns its new record; with `response_type=image` and no webhook it captures synchronously. */
export const createScreenshot = operation({
  name: 'create',
  method: 'POST',
  path: '/screenshots',
  scopes: ['capture'],
  tag: 'Screenshots',
  summary: 'Create a screenshot',
  description:
    'Accepts a capture and returns immediately. The result is available from the status operation, sent to `webhook_url`, or reported by the event stream. With `response_type=image` and no `webhook_url`, the capture is synchronous.',
  access: 'key',
  accepts: true,
  body: { name: 'CaptureParameters', schema: captureSchema, example: { ...captureExample, cache_ttl: 3600 } },
  answers: {
    200: resultAnswer,
    202: {
      ...accepted,
      content: jsonContent(
        typed({ anyOf: [acceptedScreenshotAnswer, flatScreenshot], example: exampleOf(acceptedScreenshotAnswer) }),
      ),
    },
  },
  errors: captureErrors,
  run: async (context, exchange) => {
    const request = await readCaptureRequest(context, exchange, { operation: 'create', from: 'body' })
    const { response_type: response = 'json', webhook_url: webhookUrl } = request.parsed.options
    if (response === 'image' && webhookUrl === undefined)
      return await captureSynchronously(context, exchange, { request, response })
    const { traceparent, requestId } = exchange
    const created = await createCapture(context, { lane: 'normal', request, traceparent, requestId })
    const { id, status, url, options, createdAt } = created
    return { ...acceptedHead(context, created), body: { data: { id, status, url, options, created_at: createdAt } } }
  },
})
