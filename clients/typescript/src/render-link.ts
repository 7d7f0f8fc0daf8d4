import type { CaptureParameters } from './requests.ts'

/** Parameters of a link: those of a capture without credentials and without what is not an image. */
export type LinkCaptureParameters = Omit<
  CaptureParameters,
  | 'headers'
  | 'cookies'
  | 'local_storage'
  | 'header_origins'
  | 'session_storage'
  | 'proxy'
  | 'webhook_url'
  | 'upload_to'
  | 'upload_key'
  | 'response_type'
  | 'outputs'
  | 'renditions'
  | 'extract_metadata'
>

export interface LinkOptions {
  /** Such as `https://shots.example.com`, without `/v1`. */
  baseUrl: string
  /** Id of the API key, not the key. */
  keyId: string
  /** Its link secret, which `keys.rotateLinkSecret` returned. */
  secret: string
  /** Time from which the link is refused. Default: never. */
  expires?: Date
  /** Whether a grey image is shown while the first capture is made. */
  placeholder?: boolean
}

/** Percent-encodes by RFC 3986. */
const encode = (value: string) =>
  encodeURIComponent(value).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

const hex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')

/**
 * A link to an image that is captured when it is viewed, for `<img>`, e-mail and Open Graph tags; signed without a request. Throws
 * `TypeError` if `secret` is not a link secret.
 */
export const renderLink = async (
  { baseUrl, keyId, secret, expires, placeholder = false }: LinkOptions,
  parameters: LinkCaptureParameters,
): Promise<string> => {
  if (!secret.startsWith('lsk_')) throw new TypeError('the secret must be the text that begins with lsk_')
  const own = {
    key_id: keyId,
    ...(expires && { expires: Math.floor(expires.getTime() / 1000) }),
    ...(placeholder && { placeholder }),
  }
  const canonical = Object.entries({ ...parameters, ...own })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encode(name)}=${encode(textOf(value))}`)
    .toSorted()
    .join('&')
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const text = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', text.encode(secret), hmac, false, ['sign'])
  const signature = hex(await crypto.subtle.sign('HMAC', key, text.encode(canonical)))
  return `${baseUrl.replace(/\/$/, '')}/v1/render?${canonical}&signature=${signature}`
}
