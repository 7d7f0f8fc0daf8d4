import { servedPath } from './base-path.ts'

/** Error of the API, or `OFFLINE` if it cannot be reached. */
export class ApiError extends Error {
  readonly code: string
  /** HTTP status; 0 without a response. */
  readonly status: number
  /** Messages by the name of a parameter. */
  readonly details: Readonly<Record<string, readonly string[]>>
  readonly requestId: string | undefined

  constructor({ code, message, status, details, requestId }: ErrorFields) {
    super(message)
    this.code = code
    this.status = status
    this.details = details ?? {}
    this.requestId = requestId
  }
}

type ErrorFields = {
  readonly code: string
  readonly message: string
  readonly status: number
  readonly details?: Readonly<Record<string, readonly string[]>> | undefined
  readonly requestId?: string | undefined
}

type Envelope = {
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly details?: Readonly<Record<string, readonly string[]>>
    readonly request_id?: string
  }
}

/** The error of a server that cannot be reached. */
export const offlineError = (): ApiError =>
  new ApiError({ code: 'OFFLINE', message: 'The server cannot be reached.', status: 0 })

/** A request of the console to its own origin. */
export type ApiRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: object
  readonly csrfToken?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Sends a request with the session's cookie and returns the JSON of its response; undefined without content. */
export const sendRequest = async <Answer>(path: string, request: ApiRequest = {}): Promise<Answer> => {
  const response = await fetchOnline(path, request)
  const text = await response.text()
  const content = parseJson(text)
  if (response.ok) return content as Answer
  const { error } = (content ?? {}) as Envelope
  throw new ApiError({
    code: error?.code ?? `HTTP_${response.status}`,
    message: error?.message ?? `The server responded with status ${response.status}.`,
    status: response.status,
    details: error?.details,
    requestId: error?.request_id,
  })
}

const fetchOnline = async (path: string, { method = 'GET', body, csrfToken, signal }: ApiRequest) => {
  try {
    return await fetch(servedPath(path), {
      method,
      credentials: 'same-origin',
      headers: {
        Accept: 'application/json',
        ...(body && { 'Content-Type': 'application/json' }),
        ...(csrfToken !== undefined && { 'X-CSRF-Token': csrfToken }),
      },
      body: body ? JSON.stringify(body) : null,
      signal: signal ?? null,
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw offlineError()
  }
}

const parseJson = (text: string): unknown => {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
