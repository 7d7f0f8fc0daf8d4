import { captureErrorCodes, type ErrorCode } from '#shared/errors/catalog.ts'
import { endedScreenshotAnswer, flatScreenshot } from '#gateway/records/capture.ts'
import { limitHeaders } from '#gateway/openapi/schema/answer-headers.ts'
import { type AnswerDoc, imageContent, jsonAnswer, jsonContent } from '#gateway/openapi/schema/contract.ts'

/** Errors of operations that may return the result of a capture. */
export const captureErrors: readonly ErrorCode[] = ['EXPIRED', ...captureErrorCodes]

/** The response with the result of a capture. */
export const resultAnswer: AnswerDoc = {
  description: 'The image; with `response_type=json`, the record of the completed or failed screenshot.',
  headers: ['Idempotent-Replayed', ...limitHeaders, 'X-Screenshot-Id', 'X-Cache', 'X-Target-Status'],
  content: {
    ...imageContent,
    ...jsonContent(endedScreenshotAnswer),
  },
}

/** The response of a synchronous operation whose capture is still running. */
export const acceptedAnswer: AnswerDoc = jsonAnswer(
  'The capture continues: either its webhook is notified on completion, or it takes longer than a synchronous response allows.',
  flatScreenshot,
  ['Location', 'Retry-After', 'X-Screenshot-Id', 'X-Cache', 'Idempotent-Replayed'],
)

/** Example parameters of a capture. */
export const captureExample = { url: 'https://example.com/', full_page: true, format: 'png' }
