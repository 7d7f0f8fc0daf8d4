import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'

/** Longer than the service holds a synchronous request: capture budget plus queue allowance. */
const answerMs = 180_000
const firstPollMs = 500
const longestPollMs = 5000

/** The fields of a capture's record that the command line shows. */
export type CaptureRecord = {
  readonly id: string
  readonly status: 'pending' | 'processing' | 'completed' | 'failed'
  readonly url: string | null
  readonly file_size?: number
  readonly mime_type?: string
  readonly width?: number
  readonly height?: number
  readonly target_status?: number
  readonly cached?: boolean
  /** Milliseconds by stage. */
  readonly timings?: Readonly<Record<string, number>>
  readonly warnings?: readonly { readonly code: string; readonly message: string }[]
  readonly error?: { readonly code: string; readonly message: string }
}

/** A capture that has ended; `image` is undefined if it failed. */
export type Captured = { readonly record: CaptureRecord; readonly image: Buffer | undefined }

type ErrorEnvelope = {
  error?: {
    code?: string
    message?: string
    details?: Readonly<Record<string, readonly string[]>>
    /** The capture that failed; absent if the request itself was rejected. */
    screenshot_id?: string
  }
}

const unavailable = (publicMessage: string, cause?: unknown) =>
  new AppError('SERVICE_UNAVAILABLE', { publicMessage, cause })

const rejectionError = ({ error = {} }: ErrorEnvelope, { status, headers }: Response): AppError => {
  const problems = Object.entries(error.details ?? {}).map(([name, messages]) => `${name} ${messages.join(', ')}`)
  const message = problems.length === 0 ? error.message : error.message?.replace(/\.$/, '')
  const parts = [error.code ?? `status ${status}`, message ?? '', problems.join('; ')].filter((part) => part !== '')
  const publicMessage = `the service rejected the request: ${parts.join(': ')}`
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN)
  return new AppError('SERVICE_UNAVAILABLE', {
    publicMessage,
    ...(retryAfter >= 0 && { retryAfterSeconds: retryAfter }),
  })
}

const hasEnded = ({ status }: CaptureRecord) => status === 'completed' || status === 'failed'

/** `stop` aborts requests in flight. */
export type HttpInterface = { readonly baseUrl: string; readonly apiKey: string; readonly stop: AbortSignal }

/** A request; `path` is below the URL of the endpoint, for an `HttpInterface` below `/v1`. */
export type Call = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly idempotencyKey?: string | undefined
}

/** Where requests go, and the headers that identify their sender. `stop` aborts requests in flight. */
export type Endpoint = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly stop: AbortSignal
}

/** Sends a request; the response may be an error. Throws `SERVICE_UNAVAILABLE` without a response. */
export const requestAt = async (
  { url, headers, stop }: Endpoint,
  { method, path, body, idempotencyKey }: Call,
): Promise<Response> => {
  try {
    return await fetch(url + path, {
      method,
      headers: {
        ...headers,
        ...(body && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      signal: AbortSignal.any([stop, AbortSignal.timeout(answerMs)]),
      ...(body && { body: JSON.stringify(body) }),
    })
  } catch (thrown) {
    const reason = String((thrown as Error).cause ?? thrown)
    throw unavailable(
      `${new URL(url).origin} is unreachable (${reason}); 'bin/shutterfleet status' shows whether it is up`,
      thrown,
    )
  }
}

const request = ({ baseUrl, apiKey, stop }: HttpInterface, call: Call): Promise<Response> =>
  requestAt({ url: `${baseUrl}/v1`, headers: { authorization: `Bearer ${apiKey}` }, stop }, call)

const readEnvelope = async (response: Response): Promise<ErrorEnvelope> =>
  (await response.json().catch(() => ({}))) as ErrorEnvelope

/** The response itself if it is a success. Throws `SERVICE_UNAVAILABLE` with the service's message if it is an error. */
export const requireSuccess = async (response: Response): Promise<Response> => {
  if (!response.ok) throw rejectionError(await readEnvelope(response), response)
  return response
}

/**
 * Calls an operation and returns its response. Throws `SERVICE_UNAVAILABLE` with the service's message if it rejects the
 * request or does not respond.
 */
export const send = async (at: HttpInterface, call: Call): Promise<Response> => requireSuccess(await request(at, call))

/** Calls an operation and returns the body of its response; undefined if it has none. Throws as `send`. */
export const callInterface = async <T>(at: HttpInterface, call: Call): Promise<T> => {
  const response = await send(at, call)
  return (response.status === 204 ? undefined : await response.json()) as T
}

const read = (at: HttpInterface, path: string) => send(at, { method: 'GET', path })

const readRecord = async (at: HttpInterface, id: string): Promise<CaptureRecord> =>
  ((await (await read(at, `/screenshots/${id}`)).json()) as { data: CaptureRecord }).data

/** Polls a capture until it has ended, with intervals from 0.5 s, doubled up to 5 s. */
const follow = async (at: HttpInterface, id: string, waitMs: number): Promise<CaptureRecord> => {
  const end = performance.now() + waitMs
  for (let pauseMs = firstPollMs; ; pauseMs = Math.min(longestPollMs, pauseMs * 2)) {
    const record = await readRecord(at, id)
    if (hasEnded(record)) return record
    if (performance.now() + pauseMs > end) {
      throw unavailable(
        `capture ${id} is still ${record.status} and continues; 'bin/shutterfleet status' shows the queue`,
      )
    }
    await delay(pauseMs, undefined, { signal: at.stop })
  }
}

/**
 * The capture id of a response. Throws if the request was rejected before a capture was created; with an idempotency key, by which it
 * may be repeated, also if the service does not know whether it was.
 */
const readCaptureId = async (response: Response, isKeyed: boolean): Promise<string> => {
  const id = response.headers.get('x-screenshot-id')
  if (response.ok && id !== null) return id
  const envelope = await readEnvelope(response)
  const { code, screenshot_id: created } = envelope.error ?? {}
  if (created === undefined || (isKeyed && code === 'SERVICE_UNAVAILABLE')) throw rejectionError(envelope, response)
  return created
}

/**
 * Captures and waits for the end; polls a queued capture for at most `waitMs`. Calls with the same idempotency key make one capture.
 * Throws `SERVICE_UNAVAILABLE` with the service's message if the service rejects the request or does not respond.
 */
export const captureViaHttp = async (
  at: HttpInterface,
  parameters: object,
  { waitMs, idempotencyKey }: { readonly waitMs: number; readonly idempotencyKey?: string },
): Promise<Captured> => {
  const response = await request(at, { method: 'POST', path: '/screenshots/capture', body: parameters, idempotencyKey })
  const id = await readCaptureId(response, idempotencyKey !== undefined)
  if (response.status === 200) {
    return { image: Buffer.from(await response.arrayBuffer()), record: await readRecord(at, id) }
  }
  const record = await follow(at, id, waitMs)
  if (record.status === 'failed') return { record, image: undefined }
  return { record, image: Buffer.from(await (await read(at, `/screenshots/${id}/image`)).arrayBuffer()) }
}

/** Has the service sign a link that captures on demand. Throws as `send`. */
export const signLinkViaHttp = async (at: HttpInterface, keyId: string, parameters: object): Promise<string> => {
  const path = `/keys/${encodeURIComponent(keyId)}/links`
  const { data } = await callInterface<{ data: { url: string } }>(at, { method: 'POST', path, body: { parameters } })
  return data.url
}
