import type { IncomingHttpHeaders } from 'node:http'
import { isDecodable } from '#shared/capture/is-decodable.ts'
import { isId } from '#shared/db/is-id.ts'
import { keyOf } from '#gateway/http/identification/identify.ts'
import { sessionTokenOf } from '#gateway/http/identification/session-cookie.ts'
import { readLink } from '#gateway/links/links.ts'

/**
 * The kinds of credentials that lead to an account. `value` is the API key, the token of a console's session or of a sign-in link, the id
 * of the key whose secret signed a link that captures on demand, or the id of the capture of a signed link to its image.
 */
export const credentialKinds = ['key', 'session', 'sign_in', 'link', 'image'] as const

type CredentialKind = (typeof credentialKinds)[number]

/** What says whose a request is. Nothing in it is verified. */
export type Credential = { readonly kind: CredentialKind; readonly value: string }

/** A request as far as its credential is in it. */
type Head = {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}

const tokenMax = 200

const imagePath = /^\/(?:api\/)?v1\/screenshots\/(?<id>[^/]+)\/image$/
const renderPath = /^\/(?:api\/)?v1\/render$/

/** Read by anybody, and the same in all cells: a session that ended long ago must not lead to one that is silent. */
const openPath = /^\/(?:console(?:$|\/(?!api\/))|console\/api\/sign-in$|(?:api\/)?v1\/(?:docs(?:$|\/)|openapi\.json$))/

/** The path as a gateway routes it, decoded. */
export const pathOf = (url: string): string => {
  const [path = ''] = url.split('?', 1)
  return isDecodable(path) ? decodeURIComponent(path) : path
}

/** As sent. */
const queryOf = (url: string): string => {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

const ofLink = (path: string, query: string): Credential | undefined => {
  if (renderPath.test(path)) {
    const id = new URLSearchParams(query).get('key_id') ?? ''
    return isId(id) ? { kind: 'link', value: id.toLowerCase() } : undefined
  }
  const id = imagePath.exec(path)?.groups?.['id'] ?? ''
  return isId(id) && readLink(query) ? { kind: 'image', value: id.toLowerCase() } : undefined
}

/** The credential that a gateway would read of a request, in its order of precedence; undefined if it has none that is well-formed. */
export const credentialOf = ({ method, url = '', headers }: Head, publicUrl: string): Credential | undefined => {
  if (method === 'OPTIONS') return undefined
  const [path, query] = [pathOf(url), queryOf(url)]
  if (renderPath.test(path)) return ofLink(path, query)
  if (headers.authorization !== undefined) {
    const key = keyOf(headers)
    return key === undefined ? undefined : { kind: 'key', value: key }
  }
  const link = ofLink(path, query)
  if (link || openPath.test(path)) return link
  const token = sessionTokenOf(headers, publicUrl)
  return token === undefined ? undefined : { kind: 'session', value: token }
}

/** The paths of requests whose credential, the token of a sign-in link, is in their body. */
const signInPaths: readonly string[] = ['/console/api/sign-in', '/console/api/session']

/** Whether the credential of a request is in its body. */
export const isSignIn = ({ method, url = '' }: Head): boolean => method === 'POST' && signInPaths.includes(pathOf(url))

/** The credential in the body of a sign-in; undefined if it has none. */
export const credentialOfSignIn = (body: Buffer): Credential | undefined => {
  try {
    const { token } = JSON.parse(body.toString()) as { readonly token?: unknown }
    return typeof token === 'string' && token !== '' && token.length <= tokenMax
      ? { kind: 'sign_in', value: token }
      : undefined
  } catch {
    return undefined
  }
}
