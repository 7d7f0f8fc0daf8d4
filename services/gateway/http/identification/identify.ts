import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '#shared/errors/app-error.ts'
import type { Caller } from '#shared/db/check-request.ts'
import type { Captures } from '#gateway/db/captures-in.ts'
import { refusalError, RequestError } from '#gateway/http/errors.ts'
import type { Exchange } from '#gateway/http/exchange.ts'

/** Unverified credentials: the API key, and the host of the page that sent the request. */
export type Identity = { readonly key: string; readonly originHost: string | null }

const bearer = /^bearer +(?<key>\S+)$/i
const keyPattern = /^sk_live_[A-Za-z0-9]{40}$/

const hostOf = (address: string): string | null => {
  const url = URL.parse(address)
  // The domains of keys contain IPv6 addresses without brackets.
  return url !== null && /^https?:$/.test(url.protocol) ? url.hostname.replace(/^\[(.*)\]$/, '$1') : null
}

/** The API key of a request; undefined if it is missing or malformed. */
export const keyOf = ({ authorization = '' }: IncomingHttpHeaders): string | undefined => {
  const key = bearer.exec(authorization)?.groups?.['key']
  return key !== undefined && keyPattern.test(key) ? key : undefined
}

const keyHint = 'send it in the header `Authorization: Bearer sk_live_…`'

/** Describes why a header contains no well-formed key, and how to send one. */
const problemOf = ({ authorization }: IncomingHttpHeaders): string => {
  if (authorization === undefined) return `The API key is missing: ${keyHint}.`
  if (!bearer.test(authorization)) return `The Authorization header holds no API key: ${keyHint}.`
  return 'The API key is not complete: keys are `sk_live_` and 40 letters and digits.'
}

/** Reads key and origin; `Origin` takes precedence over `Referer`, even if it has no host. Throws `INVALID_API_KEY` without a well-formed key. */
export const identify = (headers: IncomingHttpHeaders): Identity => {
  const key = keyOf(headers)
  if (key === undefined) throw new AppError('INVALID_API_KEY', { publicMessage: problemOf(headers) })
  const from = headers.origin ?? headers.referer
  return { key, originHost: from === undefined ? null : hostOf(from) }
}

/** Checks key, domain and minute limit, in this order. Throws a `RequestError`, with the caller if the key is valid. */
export const authorize = async (
  { captures }: { readonly captures: Pick<Captures, 'check' | 'hashKey'> },
  { headers, headIsTooLarge }: Pick<Exchange, 'headers' | 'headIsTooLarge'>,
): Promise<Caller> => {
  const { key, originHost } = identify(headers)
  const outcome = await captures.check({ keyHash: captures.hashKey(key), originHost })
  if (!outcome.ok) throw refusalError(outcome)
  const { caller } = outcome
  if (headIsTooLarge) throw new RequestError(new AppError('URI_TOO_LONG'), { caller })
  return caller
}
