import {
  type ActiveSession,
  endSession,
  findSession,
  isOperator,
  listSessions,
  type Session,
  startSession,
} from '#gateway/db/sessions.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { object, text } from '#shared/schema/fields.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { type Exchange, pathId } from '#gateway/http/exchange.ts'
import { createBodyReader, readJson } from '#gateway/http/input.ts'
import { sessionCookie, sessionTokenOf } from '#gateway/http/identification/session-cookie.ts'
import { assertSameOrigin, csrfTokenOf, takeFrom } from '#gateway/http/identification/sessions.ts'
import type { Served } from '#gateway/operations/operation.ts'

const signInInput = createBodyReader(object({ token: text(undefined, { maxLength: 200 }) }))

const noStore = { 'cache-control': 'no-store' }

/** A session and its CSRF token, for the page of the console; `account` is null for an operator who views none. */
const sessionBody = (session: Session, csrfToken: string) => ({
  csrf_token: csrfToken,
  account: session.accountId === null ? null : { id: session.accountId, name: session.accountName, plan: session.plan },
  role: session.role,
  created_at: session.createdAt,
  expires_at: session.expiresAt,
  idle_expires_at: session.idleExpiresAt,
})

/** The session of a request. Throws `UNAUTHORIZED` without one. */
export const requireSession = ({ session }: Exchange): ActiveSession => {
  if (!session) throw new AppError('UNAUTHORIZED', { publicMessage: 'Not signed in.' })
  return session
}

/** The account whose sessions one may list and end; null: those of operators. */
const homeOf = (session: Session): string | null => (isOperator(session) ? null : session.accountId)

const signIn: Served = {
  name: 'console_sign_in',
  method: 'POST',
  path: '/session',
  access: 'open',
  run: async (context, exchange) => {
    const { database, hashKey, sessions, publicUrl } = context
    assertSameOrigin(exchange, publicUrl())
    const client = context.clients.find(exchange)
    takeFrom(sessions.signInLimit, client)
    const { token: linkToken } = signInInput(await readJson(exchange), { allowTargets: [] })
    const from = { address: client.network, userAgent: exchange.headers['user-agent'] ?? '' }
    const token = await startSession(database, hashKey, { ...sessions.bounds, ...from, linkToken })
    const session = token === undefined ? undefined : await findSession(database, hashKey(token), sessions.bounds)
    if (token === undefined || session === undefined) throw new AppError('UNAUTHORIZED')
    sessions.signInLimit.giveBack(client)
    return {
      status: 201,
      headers: { ...noStore, 'set-cookie': sessionCookie(publicUrl(), token) },
      body: sessionBody(session, csrfTokenOf(hashKey, token)),
    }
  },
}

const showSession: Served = {
  name: 'console_session',
  method: 'GET',
  path: '/session',
  access: 'session',
  run: async ({ hashKey }, exchange) => {
    const session = requireSession(exchange)
    const csrfToken = csrfTokenOf(hashKey, sessionTokenOf(exchange.headers) ?? '')
    return { status: 200, body: sessionBody(session, csrfToken) }
  },
}

const signOut: Served = {
  name: 'console_sign_out',
  method: 'DELETE',
  path: '/session',
  access: 'session',
  forViewers: true,
  run: async ({ database, publicUrl }, exchange) => {
    const session = requireSession(exchange)
    await endSession(database, { id: session.id, accountId: homeOf(session) })
    return { status: 204, headers: { 'set-cookie': sessionCookie(publicUrl()) } }
  },
}

const list: Served = {
  name: 'console_sessions',
  method: 'GET',
  path: '/sessions',
  access: 'session',
  run: async ({ database }, exchange) => {
    const session = requireSession(exchange)
    const found = await listSessions(database, homeOf(session))
    return { status: 200, body: { data: found.map((each) => ({ ...each, is_current: each.id === session.id })) } }
  },
}

const endOne: Served = {
  name: 'console_session_end',
  method: 'DELETE',
  path: '/sessions/:id',
  access: 'session',
  run: async ({ database }, exchange) => {
    const accountId = homeOf(requireSession(exchange))
    orNotFound(await endSession(database, { accountId, id: pathId(exchange) }))
    return { status: 204 }
  },
}

/** Sign in, show the session and sign out; list the sessions of its account, or of operators, and end one of them. Paths are below `/console/api`. */
export const sessionOperations: readonly Served[] = [signIn, showSession, signOut, list, endOne]
