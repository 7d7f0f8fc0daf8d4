import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '#shared/errors/app-error.ts'
import type { Caller } from '#shared/db/check-request.ts'
import type { CheckQueue } from '#gateway/db/request-queues.ts'
import type { ActiveSession } from '#gateway/db/sessions.ts'
import type { ReplicaReads } from '#gateway/db/replica-reads.ts'
import type { RefusalCache, RequestIdentity } from '#gateway/db/refusal-cache.ts'
import { refusalError, RequestError } from '#gateway/http/errors.ts'
import type { Exchange } from '#gateway/http/exchange.ts'

const bearer = /^bearer +(?<key>\S+)$/i
const keyPattern = /^sk_live_[A-Za-z0-9]{40}$/

const hostOf = (address: string): string | null => {
  const url = URL.parse(address)
  // The domains of keys contain IPv6 addresses without brackets.
  return url !== null && /^https?:$/.test(url.protocol) ? url.hostname.replace(/^\[(.*)\]$/, '$1') : null
}

/** Host of the page that sent a request: of `Origin`, else of `Referer`; null if both are missing or the first present one has no host. */
export const originHostOf = ({ origin, referer }: IncomingHttpHeaders): string | null => {
  const from = origin ?? referer
  return from === undefined ? null : hostOf(from)
}

/** Hashes an API key as the database stores it. */
export type HashKey = (key: string) => Buffer

/** The API key of a request; undefined if it is missing or malformed. */
export const keyOf = ({ authorization = '' }: IncomingHttpHeaders): string | undefined => {
  const key = bearer.exec(authorization)?.groups?.['key']
  return key !== undefined && keyPattern.test(key) ? key : undefined
}

const keyHint = 'send it in the header `Authorization: Bearer sk_live_…`'

/** Describes why a header contains no well-formed key, and how to send one. */
const problemOf = ({ authorization }: IncomingHttpHeaders): string => {
  if (authorization === undefined) return `The API key is missing: ${keyHint}.`
  if (keyPattern.test(authorization)) return `The word \`Bearer\` is missing before the API key: ${keyHint}.`
  if (!bearer.test(authorization)) return `The Authorization header holds no API key: ${keyHint}.`
  return 'The API key is not complete: keys are `sk_live_` and 40 letters and digits.'
}

/** The account that a session identifies. Throws `FORBIDDEN` for an operator who views none. */
const accountOf = ({ accountId }: Pick<ActiveSession, 'accountId'>): string => {
  if (accountId !== null) return accountId
  throw new AppError('FORBIDDEN', { publicMessage: 'An operator belongs to no account: look into one first.' })
}

/**
 * Reads key and origin; `Origin` takes precedence over `Referer`, even if it has no host. A request without a key is identified by
 * its session, if it has one. Throws `INVALID_API_KEY` with neither a well-formed key nor a session, `FORBIDDEN` for an operator who
 * views no account.
 */
export const identify = (
  { headers, session }: Pick<Exchange, 'headers' | 'session'>,
  hashKey: HashKey,
): RequestIdentity => {
  if (session) return { keyHash: session.tokenHash, accountId: accountOf(session), originHost: null }
  const key = keyOf(headers)
  if (key === undefined) throw new AppError('INVALID_API_KEY', { publicMessage: problemOf(headers) })
  return { keyHash: hashKey(key), originHost: originHostOf(headers) }
}

/** What a check of a key uses. */
export type KeyCheck = {
  readonly checkQueue: Pick<CheckQueue, 'serve'>
  readonly refusals: RefusalCache
  readonly hashKey: HashKey
  /** Absent: what the request reads needs no position. */
  readonly replica?: Pick<ReplicaReads, 'isUsed'>
}

/** Checks key, domain, scopes and minute limit, in this order, and counts the request. Throws a `RequestError`, with the caller if the key is valid. */
export const authorize = async (
  { checkQueue, refusals, hashKey, replica }: KeyCheck,
  exchange: Pick<Exchange, 'headers' | 'session' | 'scopes' | 'headIsTooLarge'>,
): Promise<Caller> => {
  const request = identify(exchange, hashKey)
  const { scopes } = exchange
  const check = () => checkQueue.serve({ ...request, scopes, isPositioned: replica?.isUsed() ?? false })
  const outcome = refusals.find(request) ?? (await refusals.queryAndCache(request, check))
  if (!outcome.ok) throw refusalError(outcome, request.originHost)
  const { caller } = outcome
  if (exchange.headIsTooLarge) throw new RequestError(new AppError('URI_TOO_LONG'), { caller })
  return caller
}
