import { AppError } from '#shared/errors/app-error.ts'
import { describeError } from './describe-error.ts'

const firstRetryMs = 200
const longestRetryMs = 2000
const answerMs = 10_000

/** An address that was signed for one object. */
type Put = { readonly key: string; readonly url: string }

const tryPut = async (url: string, image: { bytes: Uint8Array; mimeType: string }, waitMs: number): Promise<number> => {
  const answer = await fetch(url, {
    method: 'PUT',
    body: image.bytes as Uint8Array<ArrayBuffer>,
    headers: { 'content-type': image.mimeType, 'if-none-match': '*' },
    redirect: 'error',
    signal: AbortSignal.timeout(Math.max(1, Math.min(waitMs, answerMs))),
  })
  await answer.body?.cancel()
  return answer.status
}

/**
 * Puts an image to its signed address and repeats what may pass until `endsAt` (on `performance`'s clock). That the
 * object is there already is success only after a try of ours whose answer was lost. Throws `JOB_FAILED`.
 */
export const storeImage = async (
  put: Put,
  image: { bytes: Uint8Array; mimeType: string },
  endsAt: number,
): Promise<void> => {
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
      last = describeError(error)
    }
    isUncertain = true
    await new Promise((wake) => setTimeout(wake, retryMs))
  }
  throw new AppError('JOB_FAILED', { message: `PUT ${put.key}: ${last}`, publicMessage })
}
