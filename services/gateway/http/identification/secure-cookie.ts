import type { IncomingHttpHeaders } from 'node:http'
import { publicPath } from '#gateway/http/public-path.ts'

const isOverTls = (publicUrl: string): boolean => publicUrl.startsWith('https:')

/**
 * With TLS, the prefix keeps other hosts of the domain from setting the cookie (RFC 6265bis §4.1.3.2). Below a path it cannot, because
 * such a cookie would be sent to all applications of the host.
 */
const fullName = (name: string, publicUrl: string): string => {
  if (!isOverTls(publicUrl)) return name
  return publicPath(publicUrl) === '' ? `__Host-${name}` : `__Secure-${name}`
}

/** The value of a cookie; undefined if it is missing. */
export const readCookie = (
  { cookie = '' }: IncomingHttpHeaders,
  name: string,
  publicUrl: string,
): string | undefined => {
  const start = `${fullName(name, publicUrl)}=`
  const pair = cookie.split(';').find((each) => each.trim().startsWith(start))
  return pair?.trim().slice(start.length)
}

/** A `Cookie` header without one cookie; undefined if nothing is left. */
export const withoutCookie = (cookie: string, name: string, publicUrl: string): string | undefined => {
  const start = `${fullName(name, publicUrl)}=`
  const pairs = cookie.split(';').map((each) => each.trim())
  const left = pairs.filter((pair) => pair !== '' && !pair.startsWith(start))
  return left.length === 0 ? undefined : left.join('; ')
}

/**
 * A `Set-Cookie` header; `maxAgeSeconds` 0 removes the cookie, undefined keeps it until the browser ends. Scripts cannot read it,
 * and other sites' pages send it only with links that a person follows. `publicUrl` decides whether it is sent over TLS only.
 */
export const writeCookie = (
  { name, value, maxAgeSeconds }: { readonly name: string; readonly value: string; readonly maxAgeSeconds?: number },
  publicUrl: string,
): string =>
  [
    `${fullName(name, publicUrl)}=${value}`,
    `Path=${publicPath(publicUrl) || '/'}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(isOverTls(publicUrl) ? ['Secure'] : []),
    ...(maxAgeSeconds === undefined ? [] : [`Max-Age=${maxAgeSeconds}`]),
  ].join('; ')
