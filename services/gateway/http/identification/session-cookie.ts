import type { IncomingHttpHeaders } from 'node:http'
import { readCookie, withoutCookie, writeCookie } from './secure-cookie.ts'

/** Name of the cookie with a session's token; `__Host-` precedes it behind TLS. */
const name = 'shutterfleet_session'

const tokenPattern = /^[A-Za-z0-9_-]{43}$/

/** What browsers say of a request that a page of the console sent, or a person by the address bar or a bookmark (Fetch Metadata). */
const ownSites: readonly unknown[] = [undefined, 'same-origin', 'none']

/**
 * The token in the session cookie; undefined if there is no well-formed one, if a page of another origin sent the request, or with an
 * `Authorization` header, which takes precedence.
 */
export const sessionTokenOf = (headers: IncomingHttpHeaders, publicUrl: string): string | undefined => {
  if (headers.authorization !== undefined || !ownSites.includes(headers['sec-fetch-site'])) return undefined
  const token = readCookie(headers, name, publicUrl)
  return token !== undefined && tokenPattern.test(token) ? token : undefined
}

/** A `Cookie` header without that of the session; undefined if nothing is left. */
export const withoutSessionCookie = (cookie: string, publicUrl: string): string | undefined =>
  withoutCookie(cookie, name, publicUrl)

/** The `Set-Cookie` header with a session's token; without one it removes the cookie. */
export const sessionCookie = (publicUrl: string, token?: string): string =>
  writeCookie({ name, value: token ?? '', ...(token === undefined && { maxAgeSeconds: 0 }) }, publicUrl)
