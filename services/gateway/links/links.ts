import { createHmac, timingSafeEqual } from 'node:crypto'
import type { NamedKey } from '#shared/config/settings/named-keys.ts'
import type { Sql } from '#shared/db/connection.ts'
import { findLinkedCapture, type StoredCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { createClientLimit } from '#gateway/http/identification/client-limit.ts'
import type { Clients } from '#gateway/http/identification/clients.ts'
import { type Exchange, pathId } from '#gateway/http/exchange.ts'

/** Form of a link's expiry: Unix time in seconds. */
export const expiresPattern = /^[0-9]{1,12}$/

/** Longest lifetime of a link that expires. */
export const linkMinutesMax = 525_600

/** The query of a link. `expires` is a Unix time in seconds; a permanent link has none. */
export type LinkQuery = { readonly expires?: string; readonly kid: string; readonly signature: string }

/** The capture and expiry of a link. */
type Subject = { readonly id: string; readonly expires: string | undefined }

/** Signs all parts of a link, so that none of them can be replaced. */
const sign = ({ id, secret }: NamedKey, subject: Subject): Buffer =>
  createHmac('sha256', secret)
    .update(`GET\n/v1/screenshots/${subject.id}/image\n${subject.expires ?? ''}\n${id}`)
    .digest()

/** The query of a link to the image of a capture. `expires`: Unix time in whole seconds; undefined for a permanent link. */
export const signLink = (key: NamedKey, id: string, expires: number | undefined): string => {
  const until = expires === undefined ? undefined : String(expires)
  const signature = sign(key, { id, expires: until }).toString('hex')
  return new URLSearchParams({ ...(until !== undefined && { expires: until }), kid: key.id, signature }).toString()
}

/**
 * Reads a link from a query without its question mark; undefined without a signature. Parts that are missing, repeated or
 * encoded differently than by `signLink` are empty.
 */
export const readLink = (query: string): LinkQuery | undefined => {
  const parameters = new URLSearchParams(query)
  if (!parameters.has('signature')) return undefined
  const pairs = query.split('&')
  const once = (name: string) => {
    const [value = '', ...more] = parameters.getAll(name)
    return more.length === 0 && pairs.includes(new URLSearchParams({ [name]: value }).toString()) ? value : ''
  }
  return {
    kid: once('kid'),
    signature: once('signature'),
    ...(parameters.has('expires') && { expires: once('expires') }),
  }
}

/** Checks a link's signature for this capture, in constant time, and its expiry at `now`. */
export const verifyLink = (
  keys: readonly NamedKey[],
  id: string,
  link: LinkQuery,
  now: Date,
): 'good' | 'forged' | 'expired' => {
  const { expires, kid, signature } = link
  const key = keys.find((each) => each.id === kid)
  if (!key || !/^[0-9a-f]{64}$/.test(signature)) return 'forged'
  if (expires !== undefined && !expiresPattern.test(expires)) return 'forged'
  if (!timingSafeEqual(Buffer.from(signature, 'hex'), sign(key, { id, expires }))) return 'forged'
  return expires !== undefined && Number(expires) * 1000 <= now.getTime() ? 'expired' : 'good'
}

/** Signing keys and rate limit of signed links. */
export type Links = ReturnType<typeof createLinks>

/** Creates the dependencies of signed links from the gateway's settings. */
export const createLinks = (config: {
  readonly linkSigningKeys: readonly NamedKey[]
  readonly linkRequestsBurst: number
  readonly linkRequestsPerMinute: number
}) => ({
  /** The first one signs, all verify. */
  keys: config.linkSigningKeys,
  limit: createClientLimit({
    burst: config.linkRequestsBurst,
    perMinute: config.linkRequestsPerMinute,
    nowMs: () => performance.now(),
  }),
})

type Dependencies = {
  readonly database: Sql
  readonly clients: Pick<Clients, 'find'>
  readonly links: Links
  readonly now: () => Date
}

/** The signed link of a request; undefined if it has none, or an `Authorization` header, which takes precedence. */
export const linkOf = ({ headers, query }: Pick<Exchange, 'headers' | 'query'>): LinkQuery | undefined =>
  headers.authorization === undefined ? readLink(query) : undefined

/**
 * Finds the capture of a signed link. Not counted against the account's limits but against a limit per client, which counts
 * database reads: invalid and expired links are refused before. Throws `INVALID_SIGNATURE`, `SIGNATURE_EXPIRED`,
 * `RATE_LIMIT_EXCEEDED`, or `NOT_FOUND` if the capture was deleted.
 */
export const findLinked = async (
  { database, clients, links, now }: Dependencies,
  exchange: Exchange,
  link: LinkQuery,
): Promise<StoredCapture> => {
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  const id = pathId(exchange)
  const verdict = verifyLink(links.keys, id, link, now())
  if (verdict === 'forged') throw new AppError('INVALID_SIGNATURE')
  if (verdict === 'expired') throw new AppError('SIGNATURE_EXPIRED')
  const waitSeconds = links.limit.take(clients.find(exchange))
  if (waitSeconds > 0) {
    const publicMessage = `Too many requests with signed links from this address; try again in ${waitSeconds} seconds.`
    throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds: waitSeconds })
  }
  return orNotFound(await findLinkedCapture(database, id))
}
