import type { WebhookEvent } from './types.ts'

type HeaderFields = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** Maximum age of a delivery, and maximum difference between the clocks of sender and receiver. */
const toleranceSeconds = 300

const text = new TextEncoder()

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

/** Also true for the `Headers` of another fetch implementation. */
const isHeaders = (headers: HeaderFields): headers is Headers => typeof headers.get === 'function'

const headerOf = (headers: HeaderFields, name: string) => {
  if (isHeaders(headers)) return headers.get(name) ?? ''
  const [, value = ''] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? []
  return String(value)
}

const signedBytes = (prefix: string, body: string | Uint8Array) => {
  const start = text.encode(prefix)
  const rest = typeof body === 'string' ? text.encode(body) : body
  const bytes = new Uint8Array(start.length + rest.length)
  bytes.set(start)
  bytes.set(rest, start.length)
  return { bytes, body: typeof body === 'string' ? body : new TextDecoder().decode(rest) }
}

const isSignedBy = async (key: CryptoKey, signature: string, bytes: Uint8Array<ArrayBuffer>) => {
  try {
    return await crypto.subtle.verify('HMAC', key, bytesOf(signature), bytes)
  } catch {
    return false // Not base64.
  }
}

/**
 * Verifies the signature of a delivery (Standard Webhooks) and that it is at most five minutes old, and returns its event.
 * `body` is the raw body, before any parsing. Throws `TypeError` if `secret` is not a webhook secret, `Error` if the delivery
 * is forged, altered or too old.
 */
export const verifyWebhook = async (
  secret: string,
  headers: HeaderFields,
  body: string | Uint8Array,
): Promise<WebhookEvent> => {
  if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(secret))
    throw new TypeError('the secret must be the text that begins with whsec_')
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  if (!/^\d{1,12}$/.test(timestamp)) throw new Error('webhook-timestamp is missing')
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new Error('webhook-timestamp is too old')
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytesOf(secret.slice('whsec_'.length)), hmac, false, ['verify'])
  const signed = signedBytes(`${id}.${timestamp}.`, body)
  for (const signature of headerOf(headers, 'webhook-signature').split(' ').slice(0, 10)) {
    const [version, value = ''] = signature.split(',')
    if (version === 'v1' && (await isSignedBy(key, value, signed.bytes))) return JSON.parse(signed.body) as WebhookEvent
  }
  throw new Error('the signature does not fit')
}
