import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Sql } from '#shared/db/connection.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Client } from '#shared/policy/client.ts'
import { type ActiveSession, findSession, isOperator, type Session, type SessionBounds } from '#gateway/db/sessions.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import type { Clients } from './clients.ts'
import { createClientLimit } from './client-limit.ts'
import type { HashKey } from './identify.ts'
import type { KeyGuesses } from './key-guesses.ts'
import { sessionTokenOf } from './session-cookie.ts'

/** Sign-ins with wrong links that one client may try at once, and again in each minute. */
const wrongLinksPerMinute = 20

/** Bounds of sessions, and the rate limits of their requests and of sign-ins. */
export type Sessions = ReturnType<typeof createSessions>

/** Creates the dependencies of sessions from the gateway's settings. */
export const createSessions = (config: SessionBounds & { readonly sessionRequestsPerMinute: number }) => {
  const nowMs = () => performance.now()
  const perMinute = config.sessionRequestsPerMinute
  return {
    bounds: config as SessionBounds,
    limit: createClientLimit({ burst: perMinute, perMinute, nowMs }),
    signInLimit: createClientLimit({ burst: wrongLinksPerMinute, perMinute: wrongLinksPerMinute, nowMs }),
  }
}

/** The token that state-changing requests of a session send in `X-CSRF-Token`; follows from the cookie, which scripts cannot read. */
export const csrfTokenOf = (hashKey: HashKey, sessionToken: string): string =>
  hashKey(`csrf ${sessionToken}`).toString('base64url')

/**
 * Whether a page of the console sent the request: browsers add these headers, other clients have no cookie to abuse. `Host` says
 * nothing: the owner of a name that leads here (DNS rebinding) chooses it.
 */
const isSameOrigin = ({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders, publicUrl: string): boolean =>
  (site === undefined || site === 'same-origin') && (origin === undefined || origin === new URL(publicUrl).origin)

/** Throws `FORBIDDEN` if a page of another origin than that of the public URL sent the request. */
export const assertSameOrigin = ({ headers }: Pick<Exchange, 'headers'>, publicUrl: string): void => {
  if (isSameOrigin(headers, publicUrl)) return
  const publicMessage = `Requests of a session are accepted from pages of ${new URL(publicUrl).origin} alone; the operator sets that address by SHUTTERFLEET_PUBLIC_URL.`
  throw new AppError('FORBIDDEN', { publicMessage })
}

/** Throws `FORBIDDEN` unless a request has the CSRF token of its session cookie. */
export const assertCsrfToken = (
  { hashKey, publicUrl }: Pick<SessionCheck, 'hashKey' | 'publicUrl'>,
  { headers }: Pick<Exchange, 'headers'>,
): void => {
  const sent = Buffer.from(String(headers['x-csrf-token'] ?? ''))
  const token = Buffer.from(csrfTokenOf(hashKey, sessionTokenOf(headers, publicUrl()) ?? ''))
  if (sent.length === token.length && timingSafeEqual(sent, token)) return
  throw new AppError('FORBIDDEN', { publicMessage: 'The header X-CSRF-Token is missing or wrong: reload the page.' })
}

/** Throws `RATE_LIMIT_EXCEEDED` if the client has no token. */
export const takeFrom = (limit: Sessions['limit'], client: Client): void => {
  const retryAfterSeconds = limit.take(client)
  if (retryAfterSeconds === 0) return
  const publicMessage = `Too many requests; try again in ${retryAfterSeconds} seconds.`
  throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
}

/**
 * The session with this hash. As wrong keys, wrong tokens of one client are looked up in batches once there are too many. Throws
 * `UNAUTHORIZED` if it has ended.
 */
const requireSession = async (
  { database, sessions, keyGuesses, clients }: SessionCheck,
  exchange: Exchange,
  tokenHash: Buffer,
): Promise<Session> => {
  const admission = await keyGuesses.admit(tokenHash, () => clients.find(exchange))
  if (!('settle' in admission)) throw new AppError('UNAUTHORIZED')
  let found: Session | undefined
  try {
    found = await findSession(database, tokenHash, sessions.bounds)
  } catch (error) {
    admission.settle('unchecked')
    throw error
  }
  admission.settle(found ? 'good' : 'wrong')
  if (found) return found
  throw new AppError('UNAUTHORIZED')
}

/** What the check of a session uses. */
export type SessionCheck = {
  readonly database: Sql
  readonly hashKey: HashKey
  readonly sessions: Sessions
  readonly keyGuesses: KeyGuesses
  readonly clients: Pick<Clients, 'find'>
  readonly publicUrl: () => string
}

/**
 * What a request does. `changesState`: also a GET that accepts a capture. `forViewers`: a viewer may do it though it changes state.
 * `isOfAccount`: to the account that the session identifies.
 */
export type Effect = { readonly changesState: boolean; readonly forViewers?: boolean; readonly isOfAccount?: boolean }

const readers: readonly Session['role'][] = ['viewer', 'operator_read_only']

/** Why the session may not change anything; undefined: it may. */
const readOnlyReason = (session: Session, isOfAccount: boolean): string | undefined => {
  if (isOperator(session) && isOfAccount)
    return 'An operator who looks into an account only reads; sign in to the account to act for it.'
  if (!readers.includes(session.role)) return undefined
  return session.role === 'viewer'
    ? 'A viewer may only read; ask an owner for another role.'
    : 'This session is read-only; sign in with a link that is not.'
}

/**
 * The session that identifies a request; undefined without a session cookie, or with an `Authorization` header. Throws
 * `UNAUTHORIZED` if the session has ended.
 */
export const sessionOf = async (deps: SessionCheck, exchange: Exchange): Promise<ActiveSession | undefined> => {
  const token = sessionTokenOf(exchange.headers, deps.publicUrl())
  if (token === undefined) return undefined
  const tokenHash = deps.hashKey(token)
  return { ...(await requireSession(deps, exchange, tokenHash)), tokenHash }
}

/** As `sessionOf`, but undefined too if the session has ended. */
export const currentSession = (deps: SessionCheck, exchange: Exchange): Promise<ActiveSession | undefined> =>
  sessionOf(deps, exchange).catch((thrown: unknown) => {
    if (thrown instanceof AppError && thrown.code === 'UNAUTHORIZED') return undefined
    throw thrown
  })

/**
 * Throws `FORBIDDEN` if a session's request changes state and was not sent by the console, or if its role may only read;
 * `RATE_LIMIT_EXCEEDED` if the session or all of its account's, or of operators, send too many.
 */
export const admitSession = (
  deps: SessionCheck,
  { headers, session }: Pick<Exchange, 'headers'> & { readonly session: ActiveSession },
  { changesState, forViewers = false, isOfAccount = true }: Effect,
): void => {
  if (changesState) {
    assertSameOrigin({ headers }, deps.publicUrl())
    assertCsrfToken(deps, { headers })
    const publicMessage = forViewers ? undefined : readOnlyReason(session, isOfAccount)
    if (publicMessage !== undefined) throw new AppError('FORBIDDEN', { publicMessage })
  }
  takeFrom(deps.sessions.limit, {
    network: session.id,
    site: isOperator(session) ? 'operators' : (session.accountId ?? ''),
  })
}
