import { createHmac, timingSafeEqual } from 'node:crypto'
import { isDecodable } from '#shared/capture/is-decodable.ts'
import { isId } from '#shared/db/is-id.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { expiresPattern } from './links.ts'

/** Longest query of a link. */
export const linkBytesMax = 8192

/** Parameters of a link that are not those of its capture. */
const ownNames: readonly string[] = ['key_id', 'expires', 'placeholder', 'signature']

/** The parameters of a link, by name: those of its capture, `key_id`, and optionally `expires` and `placeholder`. */
export type LinkParameters = Readonly<Record<string, string>>

/** A link as it was requested; nothing in it is verified. */
export type RenderLink = {
  readonly keyId: string
  readonly signature: string
  /** What is signed: the query without the signature, in its canonical form. */
  readonly canonical: string
  /** Unix time in seconds; undefined: it does not expire. */
  readonly expires: number | undefined
  /** Whether a view before the first image shows a placeholder instead of waiting. */
  readonly placeholder: boolean
  /** The capture's parameters, as a query. */
  readonly captureQuery: string
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.codePointAt(0)?.toString(16).toUpperCase()}`)

const canonicalOf = (pairs: readonly (readonly [name: string, value: string])[]): string =>
  pairs
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&')

const hmac = (secret: string, canonical: string): Buffer => createHmac('sha256', secret).update(canonical).digest()

/** The signed query of a link: its parameters in canonical form, then the hex HMAC-SHA256 of that. */
export const signRenderLink = (secret: string, parameters: LinkParameters): string => {
  const canonical = canonicalOf(Object.entries(parameters))
  return `${canonical}&signature=${hmac(secret, canonical).toString('hex')}`
}

/** Whether one of the secrets signed the link; in constant time. */
export const isSignedBy = (secrets: readonly string[], { canonical, signature }: RenderLink): boolean => {
  const sent = Buffer.from(signature, 'hex')
  return secrets.some((secret) => timingSafeEqual(sent, hmac(secret, canonical)))
}

const invalid = (publicMessage: string) => new AppError('INVALID_SIGNATURE', { publicMessage })

const flags: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false }

/** Every parameter of a query, decoded. Throws `INVALID_SIGNATURE` for one that is repeated or not UTF-8: signers might read another value. */
const readPairs = (query: string): Map<string, string> => {
  if (!isDecodable(query)) throw invalid('The link is not percent-encoded UTF-8.')
  const values = new Map<string, string>()
  // Without the `&` a leading question mark would be dropped.
  for (const [name, value] of new URLSearchParams(`&${query}`)) {
    if (values.has(name)) throw invalid(`The link has the parameter '${name}' more than once.`)
    values.set(name, value)
  }
  return values
}

/**
 * Reads a link from a query without its question mark. Order and encoding of the parameters do not matter, as both are lost in
 * e-mail programs and proxies. Throws `URI_TOO_LONG`, or `INVALID_SIGNATURE` for a query that no signer makes.
 */
export const readRenderLink = (query: string): RenderLink => {
  if (query.length > linkBytesMax) {
    throw new AppError('URI_TOO_LONG', { publicMessage: `The query of a link may have at most ${linkBytesMax} bytes.` })
  }
  const values = readPairs(query)
  const [keyId = '', signature = ''] = [values.get('key_id'), values.get('signature')]
  if (!isId(keyId)) throw invalid('The link needs `key_id`, the id of the key whose link secret signed it.')
  if (!/^[0-9a-f]{64}$/.test(signature)) throw invalid('The link needs `signature`, 64 hexadecimal digits.')
  const expires = values.get('expires')
  if (expires !== undefined && !expiresPattern.test(expires)) throw invalid('`expires` must be a Unix time in seconds.')
  const placeholder = flags[values.get('placeholder') ?? 'false']
  if (placeholder === undefined) throw invalid('`placeholder` must be true or false.')
  const pairs = [...values]
  return {
    keyId: keyId.toLowerCase(),
    signature,
    canonical: canonicalOf(pairs.filter(([name]) => name !== 'signature')),
    expires: expires === undefined ? undefined : Number(expires),
    placeholder,
    captureQuery: canonicalOf(pairs.filter(([name]) => !ownNames.includes(name))),
  }
}
