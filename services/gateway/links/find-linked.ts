import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Captures } from '#gateway/captures.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { clientAddress } from './client-address.ts'
import { judgeLink, type LinkQuery, readLink } from './link.ts'
import type { Links } from './links.ts'

type Dependencies = {
  readonly captures: Pick<Captures, 'findLinked'>
  readonly links: Links
  readonly now: () => Date
}

/** The link with which a request comes; undefined where it comes with credentials, which go first, or with neither. */
export const linkOf = ({ headers, query }: Pick<Exchange, 'headers' | 'query'>): LinkQuery | undefined =>
  headers.authorization === undefined ? readLink(query) : undefined

/**
 * The capture to which a signed link leads. Costs its account nothing; each client address has a limit of its own, which
 * comes first. Throws `RATE_LIMIT_EXCEEDED`, `INVALID_SIGNATURE`, `SIGNATURE_EXPIRED`, or `NOT_FOUND` once it is deleted.
 */
export const findLinked = async (
  { captures, links, now }: Dependencies,
  exchange: Exchange,
  link: LinkQuery,
): Promise<FoundCapture> => {
  const { headers, peerAddress } = exchange
  const forwarded = headers['x-forwarded-for']
  const waitSeconds = links.limit(clientAddress(peerAddress, forwarded?.toString(), links.trustedProxies))
  if (waitSeconds > 0) {
    const publicMessage = `Too many requests with signed links from this address; try again in ${waitSeconds} seconds.`
    throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds: waitSeconds })
  }
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  const id = pathId(exchange)
  const verdict = judgeLink(links.keys, id, link, now())
  if (verdict === 'forged') throw new AppError('INVALID_SIGNATURE')
  if (verdict === 'expired') throw new AppError('SIGNATURE_EXPIRED')
  const capture = await captures.findLinked(id)
  if (!capture) throw new AppError('NOT_FOUND')
  return capture
}
