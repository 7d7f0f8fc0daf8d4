import { acceptedResponse } from '#gateway/capture/accepted-response.ts'
import { captureSynchronously } from '#gateway/capture/capture-synchronously.ts'
import { createCapture } from '#gateway/capture/create-capture.ts'
import { readCaptureRequest } from '#gateway/capture/read-request.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { captureQuery, captureSchema } from '#gateway/openapi/capture-parameters.ts'
import { operation } from '#gateway/operations/operation.ts'
import { acceptedAnswer, captureErrors, captureExample, resultAnswer } from './capture-answers.ts'

const description =
  'Opens the page and returns the image, usually within 1 to 8 seconds; clients should wait for at least 60 seconds. If the capture fails and an image was requested, returns an error with the error code of the capture.'

const capture = async (context: Context, exchange: Exchange, from: 'query' | 'body'): Promise<Answer> => {
  const request = await readCaptureRequest(context, exchange, { operation: 'capture', from })
  const { response_type: response = 'image', webhook_url: webhookUrl } = request.parsed.options
  if (webhookUrl === undefined) return await captureSynchronously(context, exchange, { request, response })
  const { traceparent, requestId } = exchange
  const created = await createCapture(context, { lane: 'normal', request, traceparent, requestId })
  return acceptedResponse(context, created)
}

/** Captures and returns the image, or the record with `response_type=json`; with a webhook it returns immediately. */
export const captureByQuery = operation({
  name: 'capture_get',
  method: 'GET',
  path: '/screenshots/capture',
  scopes: ['capture'],
  tag: 'Screenshots',
  summary: 'Capture a page, with parameters in the query',
  description: `${description} Lists are sent as repeated keys, \`key[]\`, a comma-separated list or JSON; objects as \`key[sub]\` or JSON; booleans as \`true\`, \`false\`, \`1\` or \`0\`.`,
  access: 'key',
  accepts: true,
  parameters: captureQuery(),
  answers: { 200: resultAnswer, 202: acceptedAnswer },
  errors: captureErrors,
  run: (context, exchange) => capture(context, exchange, 'query'),
})

/** As `captureByQuery`; parameters are in the body. */
export const captureByBody = operation({
  name: 'capture_post',
  method: 'POST',
  path: '/screenshots/capture',
  scopes: ['capture'],
  tag: 'Screenshots',
  summary: 'Capture a page',
  description,
  access: 'key',
  accepts: true,
  body: { name: 'CaptureParameters', schema: captureSchema, example: captureExample },
  answers: { 200: resultAnswer, 202: acceptedAnswer },
  errors: captureErrors,
  run: (context, exchange) => capture(context, exchange, 'body'),
})
