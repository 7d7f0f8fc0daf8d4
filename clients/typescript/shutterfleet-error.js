/** What the service answered in place of a result, or how a capture failed. `code` is stable, the message is for people. */
export class ShutterfleetError extends Error {
  constructor({ code, message, status, details, requestId, retryAfter, screenshotId }) {
    super(message)
    this.name = 'ShutterfleetError'
    this.code = code
    this.status = status
    this.details = details
    this.requestId = requestId
    this.retryAfter = retryAfter
    this.screenshotId = screenshotId
  }
}

const secondsOf = (text) => (text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined)

/** Reads a refusal. What is not the service's envelope, such as the page of a proxy in between, is `UNEXPECTED_ANSWER`. */
export const readError = async (response) => {
  const { error = {} } = (await response.json().catch(() => undefined)) ?? {}
  return new ShutterfleetError({
    code: error.code ?? 'UNEXPECTED_ANSWER',
    message: error.message ?? `The answer has status ${response.status} and no error that is understood.`,
    status: response.status,
    details: error.details,
    requestId: error.request_id ?? response.headers.get('x-request-id') ?? undefined,
    retryAfter: secondsOf(response.headers.get('retry-after')) ?? error.retry_after,
    screenshotId: error.screenshot_id,
  })
}
