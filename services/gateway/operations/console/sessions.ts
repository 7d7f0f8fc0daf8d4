import { isId } from '#shared/db/is-id.ts'
import {
  type ActiveSession,
  endSession,
  findSession,
  isOperator,
  listOwnAccounts,
  listSessions,
  type Session,
  startSession,
  switchAccount,
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
  email: session.email,
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
  path: '/api/session',
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
  path: '/api/session',
  access: 'session',
  run: async ({ hashKey, publicUrl }, exchange) => {
    const session = requireSession(exchange)
    const csrfToken = csrfTokenOf(hashKey, sessionTokenOf(exchange.headers, publicUrl()) ?? '')
    return { status: 200, body: sessionBody(session, csrfToken) }
  },
}

const signOut: Served = {
  name: 'console_sign_out',
  method: 'DELETE',
  path: '/api/session',
  access: 'session',
  forViewers: true,
  run: async ({ database, publicUrl }, exchange) => {
    const session = requireSession(exchange)
    await endSession(database, { id: session.id, accountId: homeOf(session), by: session })
    return { status: 204, headers: { 'set-cookie': sessionCookie(publicUrl()) } }
  },
}

const list: Served = {
  name: 'console_sessions',
  method: 'GET',
  path: '/api/sessions',
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
  path: '/api/sessions/:id',
  access: 'session',
  run: async ({ database }, exchange) => {
    const by = requireSession(exchange)
    orNotFound(await endSession(database, { accountId: homeOf(by), id: pathId(exchange), by }))
    return { status: 204 }
  },
}

const listAccounts: Served = {
  name: 'console_accounts',
  method: 'GET',
  path: '/api/accounts',
  access: 'session',
  run: async ({ database }, exchange) => ({
    status: 200,
    body: { data: await listOwnAccounts(database, requireSession(exchange).id) },
  }),
}

const switchInput = createBodyReader(object({ account_id: text(undefined, { maxLength: 200 }) }))

const switchTo: Served = {
  name: 'console_account_switch',
  method: 'POST',
  path: '/api/session/account',
  access: 'session',
  forViewers: true,
  run: async ({ database, hashKey, publicUrl }, exchange) => {
    const { id: sessionId } = requireSession(exchange)
    const { account_id: accountId } = switchInput(await readJson(exchange), { allowTargets: [] })
    const token = isId(accountId) ? await switchAccount(database, hashKey, { sessionId, accountId }) : undefined
    return { status: 204, headers: { ...noStore, 'set-cookie': sessionCookie(publicUrl(), orNotFound(token)) } }
  },
}

/** Sign in, show the session and sign out; list the sessions of its account, or of operators, and end one of them; switch to another account. Paths are below `/console`. */
export const sessionOperations: readonly Served[] = [signIn, showSession, signOut, list, endOne, listAccounts, switchTo]
