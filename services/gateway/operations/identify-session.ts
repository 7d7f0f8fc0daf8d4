import { isOperator } from '#gateway/db/sessions.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { admitSession, type SessionCheck, sessionOf } from '#gateway/http/identification/sessions.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { linkOf } from '#gateway/links/links.ts'
import type { Served } from './operation.ts'

/** Adds the console's session to a request that has one and is not identified otherwise: by a key, or a signed link. */
export const identifySession = async (
  deps: SessionCheck,
  { access }: Served,
  exchange: Exchange,
): Promise<Exchange> => {
  if (access === 'open' || access === 'signature' || (access === 'link' && linkOf(exchange))) return exchange
  const session = await sessionOf(deps, exchange)
  return session ? { ...exchange, session } : exchange
}

/**
 * Checks what a session, if there is one, may do, and that an operation for operators has an operator's. A GET that accepts a capture
 * changes state too: browsers send the cookie with a link that another site's page opens.
 */
export const assertSessionMay = (deps: SessionCheck, operation: Served, { headers, session }: Exchange): void => {
  const { method, access, accepts = false, forViewers = false } = operation
  const changesState = accepts || (method !== 'GET' && method !== 'HEAD')
  const isOfAccount = access === 'key' || access === 'link'
  if (session) admitSession(deps, { headers, session }, { changesState, forViewers, isOfAccount })
  if (access !== 'operator') return
  if (!session) throw new AppError('UNAUTHORIZED', { publicMessage: 'Not signed in.' })
  if (!isOperator(session)) throw new AppError('FORBIDDEN', { publicMessage: 'Only operators may request this.' })
}
