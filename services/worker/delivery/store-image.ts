import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { finished } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { trustAdvice } from '#shared/errors/untrusted-authority.ts'

const depthMax = 4

/** The messages of an error and its causes, four at most, for logs. */
export const describeError = (thrown: unknown, depth = 1): string => {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : 'unknown error'
  const { message, cause } = thrown
  return cause === undefined || depth >= depthMax ? message : `${message}: ${describeError(cause, depth + 1)}`
}

const firstRetryMs = 200
const longestRetryMs = 2000
const responseMs = 10_000

type Image = { readonly bytes: Uint8Array; readonly mimeType: string }

/** A presigned URL for one object. */
type Put = { readonly key: string; readonly url: string }

/** Resolves to the status. Does not use `fetch`, which copies the bytes and takes a millisecond longer. */
const tryPut = async (url: string, { bytes, mimeType }: Image, waitMs: number): Promise<number> => {
  const { request } = url.startsWith('https:') ? https : http
  const put = request(url, {
    method: 'PUT',
    headers: { 'content-type': mimeType, 'content-length': bytes.byteLength, 'if-none-match': '*' },
    // `AbortSignal.timeout` accepts only whole milliseconds.
    signal: AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(waitMs, responseMs)))),
  })
  // Errors after the response are ignored; earlier ones reject `once`.
  put.on('error', () => {})
  put.end(bytes)
  const [response] = (await once(put, 'response')) as [http.IncomingMessage]
  await finished(response.resume()).catch(() => {})
  return response.statusCode ?? 0
}

/**
 * Puts an image to its presigned URL and retries transient failures until `endsAt` (on `performance`'s clock). Status 412,
 * the object exists, counts as success only after an earlier try that may have stored it. Throws `JOB_FAILED`.
 */
export const storeImage = async (put: Put, image: Image, endsAt: number): Promise<void> => {
  const publicMessage = 'The image could not be stored.'
  let last = 'no time was left'
  let isUncertain = false
  for (let retryMs = firstRetryMs; performance.now() < endsAt; retryMs = Math.min(retryMs * 2, longestRetryMs)) {
    try {
      const status = await tryPut(put.url, image, endsAt - performance.now())
      if (status < 300 || (status === 412 && isUncertain)) return
      last = `status ${status}`
      if (status < 500 && status !== 408 && status !== 429) break
    } catch (error) {
      last = describeError(error) + trustAdvice(error)
    }
    isUncertain = true
    await delay(retryMs)
  }
  throw new AppError('JOB_FAILED', { message: `PUT ${put.key}: ${last}`, publicMessage })
}
