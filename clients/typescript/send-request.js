import { readError } from './shutterfleet-error.js'

/** Waits, at most until `signal` aborts; throws its reason then. */
const pause = async (ms, signal) => {
  signal?.throwIfAborted()
  await new Promise((resolve) => {
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

/** A request that may be sent twice does no more than once; a 429 was not looked at, so any may follow it. */
const mayFollow = (status, { method, headers }) =>
  status === 429 || (status === 503 && (method !== 'POST' || headers['idempotency-key'] !== undefined))

const timeLimited = (signal, timeoutMs) => {
  const limit = timeoutMs === Infinity ? [] : [AbortSignal.timeout(timeoutMs)]
  const all = signal ? [signal, ...limit] : limit
  return all.length === 0 ? undefined : AbortSignal.any(all)
}

/**
 * Makes the function that sends requests: `path` below `/v1`, `body` as JSON. It answers a response that is a success, or
 * throws `ShutterfleetError`. 429 and 503 are sent again after `Retry-After`, at most `retries` times, and not where that
 * is longer than `retryWaitSeconds`.
 */
export const createSender = ({ baseUrl, apiKey, fetch, retries, retryWaitSeconds, timeoutMs }) => {
  const root = `${baseUrl.replace(/\/+$/, '')}/v1`
  const ask = (path, { method = 'GET', headers, body, signal, limitMs = timeoutMs }) =>
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
    const { method = 'GET', headers = {}, signal } = request
    for (let left = retries; ; left -= 1) {
      const response = await ask(path, request)
      if (response.ok) return response
      const error = await readError(response)
      const wait = error.retryAfter ?? 1
      if (left <= 0 || wait > retryWaitSeconds || !mayFollow(error.status, { method, headers })) throw error
      await pause(wait * 1000, signal)
    }
  }
}
