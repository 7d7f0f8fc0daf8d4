import { createOperatorLink, createSignInLink, type OperatorRole, type Role } from '#shared/db/sign-in-links.ts'
import type { Database } from '#shared/db/connection.ts'
import { testPepper } from './running-gateway.ts'

/** The console's session as its page receives it. */
export type SessionBody = {
  readonly csrf_token: string
  /** Null: an operator who views none. */
  readonly account: Readonly<Record<'id' | 'name' | 'plan', string>>
  readonly role: Role | OperatorRole
  readonly email: string | null
  readonly created_at: string
  readonly expires_at: string
  readonly idle_expires_at: string
}

type Send = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }

/** Sends a request without a session. */
export const sendJson = (url: string, method: string, { body, headers = {} }: Send = {}): Promise<Response> =>
  fetch(url, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

/** Posts the token of a sign-in link. */
export const postToken = (baseUrl: string, token: string, headers: Readonly<Record<string, string>> = {}) =>
  sendJson(`${baseUrl}/console/api/session`, 'POST', { body: { token }, headers })

/**
 * Confirms the sign-in to which a return from the provider leads, as the page of the console does on a click. A return that failed stays as
 * it is.
 */
export const confirmReturn = async (baseUrl: string, answer: Response): Promise<Response> => {
  const token = answer.headers.get('location')?.split('#token=')[1]
  return token === undefined ? answer : postToken(baseUrl, token)
}

/** The code of an error response, after its status. */
export const codeOf = async (answer: Response): Promise<unknown[]> => [
  answer.status,
  ((await answer.json()) as { error: { code: string } }).error.code,
]

/** A person who has signed in by a link's token. `call` sends the cookie and the CSRF token, as the console's page does. */
export const signInBy = async ({ baseUrl }: { baseUrl: string }, token: string) => {
  const answer = await postToken(baseUrl, token)
  const session = (await answer.json()) as SessionBody
  const setCookie = answer.headers.get('set-cookie') ?? ''
  const cookie = setCookie.split(';')[0] ?? ''
  const call = (method: string, path: string, { body, headers = {} }: Send = {}) =>
    sendJson(baseUrl + path, method, { body, headers: { cookie, 'x-csrf-token': session.csrf_token, ...headers } })
  return { token, session, setCookie, cookie, call }
}

type Installation = { readonly database: Database; readonly baseUrl: string }

/** Signs a person in to an account by a new link. */
export const signIn = async ({ database, baseUrl }: Installation, accountId: string, role: Role) => {
  const { token } = await createSignInLink(database, { accountId, role, pepper: testPepper })
  return await signInBy({ baseUrl }, token)
}

/** Signs an operator in by a new link. */
export const signInOperator = async ({ database, baseUrl }: Installation, role: OperatorRole = 'operator') => {
  const { token } = await createOperatorLink(database, { role, pepper: testPepper, actor: 'command line' })
  return await signInBy({ baseUrl }, token)
}
