import { type Blame, catalog, type CaptureErrorCode, type ErrorCode, isCaptureErrorCode } from './catalog.ts'

/** Validation errors by field name, worded for clients. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>

type AppErrorOptions = {
  /** For logs only. Defaults to the public message. */
  readonly message?: string
  /** For clients. Defaults to the catalogue's sentence. */
  readonly publicMessage?: string
  readonly cause?: unknown
  /** Errors per field; only of `VALIDATION_ERROR` and `CONFIGURATION`. */
  readonly details?: FieldErrors
  /** Seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number
  /** Defaults to that of the catalogue. */
  readonly blame?: Blame
}

/** An operational error: one that can occur in a correct program. `message` is for logs, `publicMessage` for clients. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly publicMessage: string
  readonly details: FieldErrors | undefined
  readonly retryAfterSeconds: number | undefined
  readonly blame: Blame

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    const publicMessage = options.publicMessage ?? catalog[code].publicMessage
    const { stackTraceLimit } = Error
    // The stack of a client's error is never used, and capturing it takes a tenth of the time of rejecting a request.
    if (catalog[code].blame === 'caller') Error.stackTraceLimit = 0
    super(options.message ?? publicMessage, options.cause === undefined ? undefined : { cause: options.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'AppError'
    this.code = code
    this.publicMessage = publicMessage
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
    this.blame = options.blame ?? catalog[code].blame
  }
}

/** Converts anything thrown to an AppError: other values become `SERVER_ERROR` with the original as the cause. */
export const toAppError = (thrown: unknown): AppError => {
  if (thrown instanceof AppError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new AppError('SERVER_ERROR', { message, cause: thrown })
}

/** The exit code of a process that ends with this error; a Job's pod failure policy reads it. */
export const errorToExitCode = (error: AppError): number => catalog[error.code].exitCode

/** The code of a capture that fails with this error: the error's own if a record can carry it, else `JOB_FAILED`. */
export const errorToCaptureCode = (error: AppError): CaptureErrorCode =>
  isCaptureErrorCode(error.code) ? error.code : 'JOB_FAILED'
