import { catalog, type CaptureErrorCode, type ErrorCode, isCaptureErrorCode } from './catalog.ts'

/** Field name to its faults, in the words that a client reads. */
export type FieldFaults = Readonly<Record<string, readonly string[]>>

type AppErrorOptions = {
  /** For logs only. Defaults to the public message. */
  readonly message?: string
  /** For clients. Defaults to the catalogue's sentence. */
  readonly publicMessage?: string
  readonly cause?: unknown
  /** Faults per field; only `VALIDATION_ERROR` and `CONFIGURATION` carry them. */
  readonly details?: FieldFaults
  /** Seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number
}

/** An operating error: something that can go wrong in a healthy program. `message` is for logs, `publicMessage` for clients. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly publicMessage: string
  readonly details: FieldFaults | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    const publicMessage = options.publicMessage ?? catalog[code].publicMessage
    const { stackTraceLimit } = Error
    // Nobody reads where a client's fault was found, and finding it out is a tenth of refusing a request.
    if (catalog[code].blame === 'client') Error.stackTraceLimit = 0
    super(options.message ?? publicMessage, options.cause === undefined ? undefined : { cause: options.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'AppError'
    this.code = code
    this.publicMessage = publicMessage
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Makes an AppError of anything thrown; what is not one already becomes `SERVER_ERROR` with the original as its cause. */
export const toAppError = (thrown: unknown): AppError => {
  if (thrown instanceof AppError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new AppError('SERVER_ERROR', { message, cause: thrown })
}

/** The exit code of a process that ends with this error; a Job's pod failure policy reads it. */
export const errorToExitCode = (error: AppError): number => catalog[error.code].exitCode

/** The code under which a capture that met this error fails: its own where a record can carry it, else `JOB_FAILED`. */
export const errorToCaptureCode = (error: AppError): CaptureErrorCode =>
  isCaptureErrorCode(error.code) ? error.code : 'JOB_FAILED'
