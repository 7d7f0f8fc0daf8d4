import type { LinkKey } from '#shared/config/settings/links.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Captures } from '#gateway/capture/captures.ts'
import { type ClientLimit, createClientLimit } from '#gateway/http/identification/client-limit.ts'
import type { Clients } from '#gateway/http/identification/clients.ts'
import { type Exchange, pathId } from '#gateway/http/exchange.ts'
import { judgeLink, type LinkQuery, readLink } from './link.ts'

/** What links that need no API key work with. */
export type Links = {
  /** The first signs, all are taken. */
  readonly keys: readonly LinkKey[]
  readonly limit: Pick<ClientLimit, 'take'>
}

/** Puts together what links work with, from the gateway's settings. */
export const createLinks = (config: {
  readonly linkSigningKeys: readonly LinkKey[]
  readonly linkRequestsBurst: number
  readonly linkRequestsPerMinute: number
}): Links => ({
  keys: config.linkSigningKeys,
  limit: createClientLimit({
    burst: config.linkRequestsBurst,
    perMinute: config.linkRequestsPerMinute,
    nowMs: () => performance.now(),
  }),
})

type Dependencies = {
  readonly captures: Pick<Captures, 'findLinked'>
  readonly clients: Pick<Clients, 'find'>
  readonly links: Links
  readonly now: () => Date
}

/** The link with which a request comes; undefined where it comes with credentials, which go first, or with neither. */
export const linkOf = ({ headers, query }: Pick<Exchange, 'headers' | 'query'>): LinkQuery | undefined =>
  headers.authorization === undefined ? readLink(query) : undefined

/**
 * The capture to which a signed link leads. Costs its account nothing; each client has a limit of its own, which counts
 * what is asked of the database: links whose signature is invalid or whose time has passed are refused before. Throws
 * `INVALID_SIGNATURE`, `SIGNATURE_EXPIRED`, `RATE_LIMIT_EXCEEDED`, or `NOT_FOUND` once it is deleted.
 */
export const findLinked = async (
  { captures, clients, links, now }: Dependencies,
  exchange: Exchange,
  link: LinkQuery,
): Promise<FoundCapture> => {
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  const id = pathId(exchange)
  const verdict = judgeLink(links.keys, id, link, now())
  if (verdict === 'forged') throw new AppError('INVALID_SIGNATURE')
  if (verdict === 'expired') throw new AppError('SIGNATURE_EXPIRED')
  const waitSeconds = links.limit.take(clients.find(exchange))
  if (waitSeconds > 0) {
    const publicMessage = `Too many requests with signed links from this address; try again in ${waitSeconds} seconds.`
    throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds: waitSeconds })
  }
  const capture = await captures.findLinked(id)
  if (!capture) throw new AppError('NOT_FOUND')
  return capture
}
