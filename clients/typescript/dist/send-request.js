import { readError, unreachableError } from './shutterfleet-error.js';
/** Waits `ms`; throws the signal's reason if it aborts. */
export const pause = async (ms, signal) => {
    signal?.throwIfAborted();
    await new Promise((resolve) => {
        const end = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', end);
            resolve();
        };
        const timer = setTimeout(end, ms);
        signal?.addEventListener('abort', end);
    });
    signal?.throwIfAborted();
};
const hasKey = ({ headers }) => headers?.['idempotency-key'] !== undefined;
/** A 429 was rejected before it was processed; after a 503 only idempotent requests are retried. */
const isRetryable = (status, request) => status === 429 || (status === 503 && (request.method !== 'POST' || hasKey(request)));
/** Whether a request whose connection broke may be sent again. Fetch rejects with a `TypeError` then. */
const isRepeatable = (error, request) => error instanceof TypeError && (['GET', 'HEAD'].includes(request.method ?? 'GET') || hasKey(request));
const timeLimited = (signal, timeoutMs) => {
    const limit = timeoutMs === Infinity ? [] : [AbortSignal.timeout(timeoutMs)];
    const all = signal ? [signal, ...limit] : limit;
    return all.length === 0 ? null : AbortSignal.any(all);
};
/**
 * Returns a function that sends a request to `path` below `/v1`, with `body` as JSON. It resolves with a successful response
 * or throws `ShutterfleetError`. 429 and 503 are retried after `Retry-After`, at most `retries` times, unless `Retry-After` is
 * longer than `retryWaitSeconds`; broken connections of idempotent requests after a second.
 */
export const createSender = (options) => {
    const { baseUrl, apiKey, fetch, retries, retryWaitSeconds, timeoutMs } = options;
    const root = `${baseUrl.replace(/\/+$/, '')}/v1`;
    const attempt = (path, { method = 'GET', headers, body, signal, limitMs = timeoutMs }) => fetch(root + path, {
        method,
        headers: {
            authorization: `Bearer ${apiKey}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
        },
        redirect: 'error',
        signal: timeLimited(signal, limitMs),
        ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return async (path, request = {}) => {
        for (let left = retries;; left -= 1) {
            const response = await attempt(path, request).catch((error) => {
                if (left <= 0 || !isRepeatable(error, request))
                    throw error instanceof TypeError ? unreachableError(baseUrl, error) : error;
            });
            if (!response) {
                await pause(1000, request.signal);
                continue;
            }
            if (response.ok)
                return response;
            const error = await readError(response);
            const wait = error.retryAfter ?? 1;
            if (left <= 0 || wait > retryWaitSeconds || !isRetryable(error.status, request))
                throw error;
            await pause(wait * 1000, request.signal);
        }
    };
};
