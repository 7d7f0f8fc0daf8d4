import { readError, unreachableError } from './shutterfleet-error.ts'
import type { ClientOptions } from './options.ts'

export type SendOptions = {
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** Time limit of one attempt, instead of `timeoutMs`. */
  readonly limitMs?: number | undefined
}

export type Send = (path: string, options?: SendOptions) => Promise<Response>

/** Waits `ms`; throws the signal's reason if it aborts. */
export const pause = async (ms: number, signal: AbortSignal | undefined) => {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
  signal?.throwIfAborted()
}

const hasKey = ({ headers }: SendOptions) => headers?.['idempotency-key'] !== undefined

/** A 429 was rejected before it was processed; after a 503 only idempotent requests are retried. */
const isRetryable = (status: number | undefined, request: SendOptions) =>
  status === 429 || (status === 503 && (request.method !== 'POST' || hasKey(request)))

/** Whether a request whose connection broke may be sent again. Fetch rejects with a `TypeError` then. */
const isRepeatable = (error: unknown, request: SendOptions) =>
  error instanceof TypeError && (['GET', 'HEAD'].includes(request.method ?? 'GET') || hasKey(request))

const timeLimited = (signal: AbortSignal | undefined, timeoutMs: number) => {
  const limit = timeoutMs === Infinity ? [] : [AbortSignal.timeout(timeoutMs)]
  const all = signal ? [signal, ...limit] : limit
  return all.length === 0 ? null : AbortSignal.any(all)
}

/**
 * Returns a function that sends a request to `path` below `/v1`, with `body` as JSON. It resolves with a successful response
 * or throws `ShutterfleetError`. 429 and 503 are retried after `Retry-After`, at most `retries` times, unless `Retry-After` is
 * longer than `retryWaitSeconds`; broken connections of idempotent requests after a second.
 */
export const createSender = (options: Required<ClientOptions> & { apiKey: string }): Send => {
  const { baseUrl, apiKey, fetch, retries, retryWaitSeconds, timeoutMs } = options
  const root = `${baseUrl.replace(/\/+$/, '')}/v1`
  const attempt = (path: string, { method = 'GET', headers, body, signal, limitMs = timeoutMs }: SendOptions) =>
    fetch(root + path, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      redirect: 'error',
      signal: timeLimited(signal, limitMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

  return async (path, request = {}) => {
    for (let left = retries; ; left -= 1) {
      const response = await attempt(path, request).catch((error: unknown) => {
        if (left <= 0 || !isRepeatable(error, request))
          throw error instanceof TypeError ? unreachableError(baseUrl, error) : error
      })
      if (!response) {
        await pause(1000, request.signal)
        continue
      }
      if (response.ok) return response
      const error = await readError(response)
      const wait = error.retryAfter ?? 1
      if (left <= 0 || wait > retryWaitSeconds || !isRetryable(error.status, request)) throw error
      await pause(wait * 1000, request.signal)
    }
  }
}
