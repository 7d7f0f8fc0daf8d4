import { admitSession, type SessionCheck } from '#gateway/http/identification/sessions.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { linkOf } from '#gateway/links/links.ts'
import type { Served } from './operation.ts'

/**
 * Adds the console's session to a request that has one and is not identified otherwise: by a key, or a signed link. A GET that
 * accepts a capture changes state too: browsers send the cookie with a link that another site's page opens.
 */
export const identifySession = async (deps: SessionCheck, operation: Served, exchange: Exchange): Promise<Exchange> => {
  const { access, method, accepts = false, forViewers = false } = operation
  if (access === 'open' || (access === 'link' && linkOf(exchange))) return exchange
  const changesState = accepts || (method !== 'GET' && method !== 'HEAD')
  const session = await admitSession(deps, exchange, { changesState, forViewers })
  return session ? { ...exchange, session } : exchange
}
