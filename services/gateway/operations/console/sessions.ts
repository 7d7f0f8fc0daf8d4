import { isId } from '#shared/db/is-id.ts'
import {
  type ActiveSession,
  endSession,
  findLink,
  findSession,
  isOperator,
  listOwnAccounts,
  listSessions,
  type Session,
  startSession,
  switchAccount,
} from '#gateway/db/sessions.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { object, text } from '#shared/schema/fields.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Answer } from '#gateway/http/answer.ts'
import { signInBytesMax } from '#gateway/http/body-bound.ts'
import type { Client } from '#shared/policy/client.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { type Exchange, pathId } from '#gateway/http/exchange.ts'
import { createBodyReader, readJson } from '#gateway/http/input.ts'
import { sessionCookie, sessionTokenOf } from '#gateway/http/identification/session-cookie.ts'
import {
  assertCsrfToken,
  assertSameOrigin,
  csrfTokenOf,
  currentSession,
  takeFrom,
} from '#gateway/http/identification/sessions.ts'
import type { Served } from '#gateway/operations/operation.ts'

const signInInput = createBodyReader(object({ token: text(undefined, { maxLength: 200 }) }))

const noStore = { 'cache-control': 'no-store' }

/** Who is, or would be, signed in; `account` is null for an operator who views none. */
const identityBody = (of: Pick<Session, 'accountId' | 'accountName' | 'plan' | 'role' | 'email'>) => ({
  account: of.accountId === null ? null : { id: of.accountId, name: of.accountName, plan: of.plan },
  role: of.role,
  email: of.email,
})

/** A session and its CSRF token, for the page of the console. */
const sessionBody = (session: Session, csrfToken: string) => ({
  csrf_token: csrfToken,
  ...identityBody(session),
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

/** Reads the link's token, as `work` does anything with it: from our own page alone, and at most so often for wrong ones. */
const withLink = async (
  context: Context,
  exchange: Exchange,
  work: (linkToken: string, client: Client) => Promise<Answer | undefined>,
): Promise<Answer> => {
  const client = context.clients.find(exchange)
  try {
    assertSameOrigin(exchange, context.publicUrl())
    takeFrom(context.sessions.signInLimit, client)
    const { token } = signInInput(await readJson(exchange), { allowTargets: [] })
    const answer = await work(token, client)
    if (!answer) throw new AppError('UNAUTHORIZED')
    context.sessions.signInLimit.giveBack(client)
    return answer
  } catch (thrown) {
    const { code } = toAppError(thrown)
    if (code === 'UNAUTHORIZED' || code === 'FORBIDDEN')
      await context.signInFailures.note({ how: 'link', reason: code, client })
    throw thrown
  }
}

const showLink: Served = {
  name: 'console_sign_in_link',
  method: 'POST',
  path: '/api/sign-in',
  access: 'open',
  bodyBytesMax: signInBytesMax,
  run: (context, exchange) =>
    withLink(context, exchange, async (linkToken) => {
      const link = await findLink(context.database, context.hashKey(linkToken), context.sessions.bounds)
      if (!link) return undefined
      const replaces = (await currentSession(context, exchange)) !== undefined
      return { status: 200, headers: noStore, body: { ...identityBody(link), expires_at: link.expiresAt, replaces } }
    }),
}

const signIn: Served = {
  name: 'console_sign_in',
  method: 'POST',
  path: '/api/session',
  access: 'open',
  bodyBytesMax: signInBytesMax,
  run: (context, exchange) =>
    withLink(context, exchange, async (linkToken, client) => {
      const { database, hashKey, sessions, publicUrl } = context
      const replaced = await currentSession(context, exchange)
      // Its page has named the session that ends: only who reads it knows its token.
      if (replaced) assertCsrfToken(context, exchange)
      const from = { address: client.network, userAgent: exchange.headers['user-agent'] ?? '' }
      const input = { ...sessions.bounds, ...from, linkToken, replacedId: replaced?.id ?? null }
      const token = await startSession(database, hashKey, input)
      const session = token === undefined ? undefined : await findSession(database, hashKey(token), sessions.bounds)
      if (token === undefined || session === undefined) return undefined
      return {
        status: 201,
        headers: { ...noStore, 'set-cookie': sessionCookie(publicUrl(), token) },
        body: sessionBody(session, csrfTokenOf(hashKey, token)),
      }
    }),
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
  run: async ({ database, publicUrl, clients }, exchange) => {
    const session = requireSession(exchange)
    const address = clients.find(exchange).network
    await endSession(database, { id: session.id, accountId: homeOf(session), by: session, address })
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
  run: async ({ database, clients }, exchange) => {
    const by = requireSession(exchange)
    const address = clients.find(exchange).network
    orNotFound(await endSession(database, { accountId: homeOf(by), id: pathId(exchange), by, address }))
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
  run: async ({ database, hashKey, publicUrl, clients }, exchange) => {
    const { id: sessionId } = requireSession(exchange)
    const { account_id: accountId } = switchInput(await readJson(exchange), { allowTargets: [] })
    const input = { sessionId, accountId, address: clients.find(exchange).network }
    const token = isId(accountId) ? await switchAccount(database, hashKey, input) : undefined
    return { status: 204, headers: { ...noStore, 'set-cookie': sessionCookie(publicUrl(), orNotFound(token)) } }
  },
}

/** Show whom a link signs in, sign in, show the session and sign out; list the sessions of its account, or of operators, and end one of them; switch to another account. Paths are below `/console`. */
export const sessionOperations: readonly Served[] = [
  showLink,
  signIn,
  showSession,
  signOut,
  list,
  endOne,
  listAccounts,
  switchTo,
]
