import type { WebhookEvent } from './types.ts';
type HeaderFields = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
/**
 * Verifies the signature of a delivery (Standard Webhooks) and that it is at most five minutes old, and returns its event.
 * `body` is the raw body, before any parsing. Throws `TypeError` if `secret` is not a webhook secret, `Error` if the delivery
 * is forged, altered or too old.
 */
export declare const verifyWebhook: (secret: string, headers: HeaderFields, body: string | Uint8Array) => Promise<WebhookEvent>;
export {};
