import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

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

/** How the first capture of an installation ended; `error` is null if it succeeded. */
export type FirstCapture = { readonly error: string | null }

/**
 * Captures a built-in page through the HTTP interface, which needs every service but no network. Only reports: what callers and
 * operators may set, such as a paused pool, makes it fail as well. Never throws.
 */
export const captureFirst = async (baseUrl: string, apiKey: string, signal: AbortSignal): Promise<FirstCapture> => {
  try {
    const { status, body } = await post(`${baseUrl}/v1/screenshots/capture`, apiKey, signal)
    if (status === 200) return { error: null }
    if (status !== 202) return { error: body.toString('utf8') }
    return { error: 'it did not end in time; the log of the workers names what they wait for, and `doctor` checks it' }
  } catch (thrown) {
    return { error: String(thrown) }
  }
}
