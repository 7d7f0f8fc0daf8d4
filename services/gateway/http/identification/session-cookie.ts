import type { IncomingHttpHeaders } from 'node:http'

/** Name of the cookie with a session's token. */
const cookieName = 'shutterfleet_session'

const tokenPattern = /^[A-Za-z0-9_-]{43}$/

/** The token in the session cookie; undefined if there is no well-formed one, or an `Authorization` header, which takes precedence. */
export const sessionTokenOf = ({ authorization, cookie = '' }: IncomingHttpHeaders): string | undefined => {
  if (authorization !== undefined) return undefined
  const start = `${cookieName}=`
  const pair = cookie.split(';').find((each) => each.trim().startsWith(start))
  const token = pair?.trim().slice(start.length)
  return token !== undefined && tokenPattern.test(token) ? token : undefined
}

/**
 * The `Set-Cookie` header with a session's token; without one it removes the cookie. Scripts cannot read it, and other sites' pages
 * send it only with links that a person follows. `publicUrl` decides whether it is sent over TLS only.
 */
export const sessionCookie = (publicUrl: string, token?: string): string =>
  [
    `${cookieName}=${token ?? ''}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
    ...(publicUrl.startsWith('https:') ? ['Secure'] : []),
    ...(token === undefined ? ['Max-Age=0'] : []),
  ].join('; ')
