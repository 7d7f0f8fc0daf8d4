import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { AppError } from '#shared/errors/app-error.ts'

/** Longer than the gateway holds a synchronous request, including a worker's start. */
const answerMs = 90_000
const html = '<!doctype html><title>Shutterfleet</title><h1>Shutterfleet is up</h1>'

const post = async (url: string, apiKey: string, signal: AbortSignal): Promise<{ status: number; body: Buffer }> => {
  const posting = request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
  })
  posting.end(JSON.stringify({ html }))
  const [response] = (await once(posting, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, body: await buffer(response) }
}

/** Captures a built-in page through the HTTP interface, which needs every service but no network. Throws `SERVICE_UNAVAILABLE` with the response body. */
export const captureFirst = async (baseUrl: string, apiKey: string, signal: AbortSignal): Promise<void> => {
  const { status, body } = await post(`${baseUrl}/v1/screenshots/capture`, apiKey, signal).catch((cause: unknown) => {
    throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: `the first capture failed: ${String(cause)}`, cause })
  })
  if (status === 200) return
  const reason =
    status === 202
      ? 'it did not end in time; the log of the workers names what they wait for, and `doctor` checks it'
      : body.toString('utf8')
  throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: `the first capture failed: ${reason}` })
}
