type ErrorFields = {
  readonly code: string
  readonly message: string
  readonly status: number | undefined
  readonly details?: Readonly<Record<string, readonly string[]>> | undefined
  readonly requestId?: string | undefined
  readonly docUrl?: string | undefined
  readonly retryAfter?: number | undefined
  readonly screenshotId?: string | undefined
}

/** The body of a response that refuses a request. */
type ErrorBody = {
  readonly error?: {
    readonly code?: string
    readonly message?: string
    readonly details?: Readonly<Record<string, readonly string[]>>
    readonly request_id?: string
    readonly doc_url?: string
    readonly retry_after?: number
    readonly screenshot_id?: string
  }
}

const withFirstDetail = (message: string, details: ErrorFields['details'] = {}): string => {
  const [first] = Object.entries(details)
  return first === undefined ? message : `${message} ${first[0]}: ${first[1][0]}`
}

/** An error response of the service, a failed capture, or a service that is not reachable. Its message ends with the first of the details. */
export class ShutterfleetError extends Error {
  override readonly name = 'ShutterfleetError'
  /** Stable: see the service's docs/errors.md. `UNEXPECTED_ANSWER` if the response is not one of the service, `UNREACHABLE` without a response. */
  readonly code: string
  /** HTTP status; undefined without a response, and if the request succeeded and its capture failed later. */
  readonly status: number | undefined
  /** Validation errors by parameter, of `VALIDATION_ERROR`. */
  readonly details: Readonly<Record<string, readonly string[]>> | undefined
  readonly requestId: string | undefined
  /** Where the error is explained. */
  readonly docUrl: string | undefined
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined
  /** The capture that failed, or may have been accepted. */
  readonly screenshotId: string | undefined

  constructor({ code, message, status, details, requestId, docUrl, retryAfter, screenshotId }: ErrorFields) {
    super(withFirstDetail(message, details))
    this.code = code
    this.status = status
    this.details = details
    this.requestId = requestId
    this.docUrl = docUrl
    this.retryAfter = retryAfter
    this.screenshotId = screenshotId
  }
}

/** Names the address, and the reason that `fetch` has in the cause of its error. */
export const unreachableError = (baseUrl: string, cause: TypeError): ShutterfleetError => {
  const { message } = cause.cause instanceof Error ? cause.cause : cause
  const error = new ShutterfleetError({
    code: 'UNREACHABLE',
    message: `The service at ${baseUrl} is not reachable: ${message}`,
    status: undefined,
  })
  error.cause = cause
  return error
}

const secondsOf = (text: string | null) => (text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined)

/** Reads an error response. One without the service's envelope, such as a proxy's page, becomes `UNEXPECTED_ANSWER`. */
export const readError = async (response: Response): Promise<ShutterfleetError> => {
  const body = (await response.json().catch(() => undefined)) as ErrorBody | null | undefined
  const { error = {} } = body ?? {}
  return new ShutterfleetError({
    code: error.code ?? 'UNEXPECTED_ANSWER',
    message: error.message ?? `The response has status ${response.status} and no error in the service's format.`,
    status: response.status,
    details: error.details,
    requestId: error.request_id ?? response.headers.get('x-request-id') ?? undefined,
    docUrl: error.doc_url,
    retryAfter: secondsOf(response.headers.get('retry-after')) ?? error.retry_after,
    screenshotId: error.screenshot_id,
  })
}
