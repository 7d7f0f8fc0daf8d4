import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

type Claims = Readonly<Record<string, unknown>>

/** A client of the provider. */
export const oidcClient = { id: 'shutterfleet', secret: 'a-secret-of-the-console' } as const

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString()) as Claims

const sign = (header: object, claims: object, key: KeyObject): string => {
  const text = `${encode(header)}.${encode(claims)}`
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`
}

/** How a provider that lies answers. */
export type OidcLies = {
  /** Changes the claims of ID tokens, which are signed again. */
  idToken?: (claims: Claims) => Claims
  /** Signs ID tokens with a key that the provider does not publish. */
  isForged?: boolean
  /** Fails to answer for user info. */
  hasNoUserInfo?: boolean
}

/** A real OpenID Connect provider on 127.0.0.1, whose people are known by what they enter as their login. Stops with the test. */
export const startOidcProvider = async (
  t: { teardown: (clean: () => unknown) => void },
  { redirectUris, people }: { readonly redirectUris: readonly string[]; readonly people: Record<string, Claims> },
) => {
  const [key, otherKey] = [newKey(), newKey()]
  const lies: OidcLies = {}
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      { client_id: oidcClient.id, client_secret: oidcClient.secret, redirect_uris: [...redirectUris] },
      { client_id: 'public', token_endpoint_auth_method: 'none', redirect_uris: [...redirectUris] },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups', 'roles'] },
    features: { devInteractions: { enabled: true } },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    cookies: { keys: ['a key of tests'] },
    jwks: { keys: [{ ...key.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'test' }] },
    findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ ...people[id], sub: id }) }),
  })
  provider.use(async (ctx, next) => {
    await next()
    const body = ctx.body as { id_token?: string } | undefined
    if (ctx.path === '/me' && lies.hasNoUserInfo === true) ctx.throw(503)
    if (ctx.path !== '/token' || body?.id_token === undefined) return
    const [header, claims] = body.id_token.split('.').map((part, index) => (index < 2 ? decode(part) : {}))
    const told = lies.idToken?.(claims ?? {}) ?? claims ?? {}
    ctx.body = { ...body, id_token: sign(header ?? {}, told, lies.isForged === true ? otherKey : key) }
  })
  const answer = provider.callback()
  server.on('request', (request, response) => void answer(request, response))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { issuer, lies, people }
}

/** A browser without pages: keeps the cookies of one origin. */
const createJar = () => {
  const cookies = new Map<string, string>()
  return async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const answer = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } })
    for (const each of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = each.split(';')[0]?.split(/=(.*)/s) ?? []
      cookies.set(name, value)
    }
    return answer
  }
}

/** Signs in at the provider as a person does, through its pages, and returns the address to which it sends the browser back. */
export const signInAtProvider = async (authorizationUrl: string, login: string): Promise<string> => {
  const send = createJar()
  const { origin } = new URL(authorizationUrl)
  let url = authorizationUrl
  for (let steps = 0; steps < 10; steps += 1) {
    const page = await send(url)
    const text = await page.text()
    const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1]
    const form = new URLSearchParams({ prompt: prompt ?? '', login, password: 'any' })
    const answer = prompt === undefined ? page : await send(url, { method: 'POST', body: form })
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`the provider answered ${answer.status}: ${text}`)
    url = new URL(location, url).href
    if (new URL(url).origin !== origin) return url
  }
  throw new Error('the provider does not send the browser back')
}
