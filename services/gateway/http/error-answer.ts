import { type AppError, errorToHttp } from '#shared/errors/app-error.ts'
import type { Answer } from './exchange.ts'

/** Seconds after which a client may try again where nothing better is known. */
const unavailableSeconds = 5

/** An error as the contract's envelope. `screenshotId` names the capture that failed or may have been accepted, where there is one. */
export const errorAnswer = (error: AppError, requestId: string, screenshotId?: string): Answer => {
  const { status, body } = errorToHttp(error, requestId)
  const retryAfter = error.retryAfterSeconds ?? (status === 503 ? unavailableSeconds : undefined)
  return {
    status,
    code: error.code,
    headers: {
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(screenshotId !== undefined && { 'x-screenshot-id': screenshotId }),
    },
    body: {
      error: {
        ...body.error,
        ...(retryAfter !== undefined && { retry_after: retryAfter }),
        ...(screenshotId !== undefined && { screenshot_id: screenshotId }),
      },
    },
  }
}
