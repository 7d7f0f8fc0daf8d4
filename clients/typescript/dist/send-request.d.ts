import type { ClientOptions } from './options.ts';
export type SendOptions = {
    readonly method?: string | undefined;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    readonly body?: unknown;
    readonly signal?: AbortSignal | undefined;
    /** Time limit of one attempt, instead of `timeoutMs`. */
    readonly limitMs?: number | undefined;
};
export type Send = (path: string, options?: SendOptions) => Promise<Response>;
/** Waits `ms`; throws the signal's reason if it aborts. */
export declare const pause: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
/**
 * Returns a function that sends a request to `path` below `/v1`, with `body` as JSON. It resolves with a successful response
 * or throws `ShutterfleetError`. 429 and 503 are retried after `Retry-After`, at most `retries` times, unless `Retry-After` is
 * longer than `retryWaitSeconds`; broken connections of idempotent requests after a second.
 */
export declare const createSender: (options: Required<ClientOptions> & {
    apiKey: string;
}) => Send;
