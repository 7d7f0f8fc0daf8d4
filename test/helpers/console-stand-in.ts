import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { text } from 'node:stream/consumers'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const csrfToken = 'csrf-token'
const hourMs = 3_600_000

/** The console in front of a system whose gateway has no sessions, with those of one browser in memory. */
export type ConsoleStandIn = {
  readonly url: string
  /** A new sign-in link, which works once. */
  readonly signInLink: () => string
  readonly close: () => void
}

type State = { readonly tokens: Set<string>; readonly cookies: Set<string>; keys: { id: string }[] }

const sendJson = (response: ServerResponse, status: number, body?: object) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body && JSON.stringify(body))
}

const refuse = (response: ServerResponse, status: number, code: string) =>
  sendJson(response, status, { error: { code, message: `${code} of the stand-in`, status, request_id: randomUUID() } })

const session = () => {
  const [now, later] = [new Date(), new Date(Date.now() + hourMs)]
  return {
    csrf_token: csrfToken,
    account: { id: randomUUID(), name: 'local', plan: 'Unlimited' },
    role: 'owner',
    created_at: now,
    expires_at: later,
    idle_expires_at: later,
  }
}

const cookieOf = ({ headers: { cookie = '' } }: IncomingMessage) => /shutterfleet_session=(\S+)/.exec(cookie)?.[1] ?? ''

const sendFile = async (folder: string, path: string, response: ServerResponse) => {
  const name = extname(path) === '' ? 'index.html' : path.slice('/console/'.length)
  const bytes = await readFile(join(folder, name)).catch(() => undefined)
  if (!bytes) return refuse(response, 404, 'NOT_FOUND')
  response.writeHead(200, { 'content-type': mediaTypes[extname(name)], 'content-security-policy': policy })
  response.end(bytes)
}

const signIn = async (state: State, incoming: IncomingMessage, response: ServerResponse) => {
  const { token } = JSON.parse(await text(incoming)) as { token: string }
  if (!state.tokens.delete(token)) return refuse(response, 401, 'UNAUTHORIZED')
  const cookie = randomUUID()
  state.cookies.add(cookie)
  response.setHeader('set-cookie', `shutterfleet_session=${cookie}; HttpOnly; SameSite=Lax; Path=/`)
  sendJson(response, 201, session())
}

/** Sessions and keys; undefined where the system itself answers. */
const answerOf = (state: State, method: string, path: string): Answer | undefined => {
  if (path === '/console/api/session' && method === 'GET') return (_, response) => sendJson(response, 200, session())
  if (path === '/console/api/session')
    return (incoming, response) => {
      state.cookies.delete(cookieOf(incoming))
      sendJson(response, 204)
    }
  if (path === '/console/api/sessions') return (_, response) => sendJson(response, 200, { data: [] })
  if (path === '/v1/keys' && method === 'GET') return (_, response) => sendJson(response, 200, { data: state.keys })
  if (path !== '/v1/keys') return undefined
  return async (incoming, response) => {
    const { name } = JSON.parse(await text(incoming)) as { name: string }
    const key = { id: randomUUID(), name, prefix: 'sk_live_test', created_at: new Date(), last_used_at: null }
    state.keys = [key, ...state.keys]
    sendJson(response, 201, { data: { ...key, key: 'sk_live_test_of_the_stand_in' } })
  }
}

type Answer = (incoming: IncomingMessage, response: ServerResponse) => unknown

const forward = (incoming: IncomingMessage, response: ServerResponse, system: Upstream) => {
  const { url = '/', method, headers } = incoming
  const options = { method, headers: { ...headers, cookie: '', authorization: `Bearer ${system.apiKey}` } }
  const upstream = request(system.baseUrl + url, options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  upstream.on('error', () => response.destroy())
  response.on('close', () => upstream.destroy())
  incoming.pipe(upstream)
}

type Upstream = { readonly baseUrl: string; readonly apiKey: string }

/** Serves a built console, and forwards its requests to a system with an API key. */
export const startConsoleStandIn = async (folder: string, system: Upstream): Promise<ConsoleStandIn> => {
  const state: State = { tokens: new Set(), cookies: new Set(), keys: [] }
  const server = createServer(async (incoming, response) => {
    const { method = 'GET', headers } = incoming
    const path = new URL(incoming.url ?? '/', 'http://localhost').pathname
    if (path.startsWith('/console') && !path.startsWith('/console/api')) return sendFile(folder, path, response)
    if (path === '/console/api/session' && method === 'POST') return signIn(state, incoming, response)
    if (!state.cookies.has(cookieOf(incoming))) return refuse(response, 401, 'UNAUTHORIZED')
    if (method !== 'GET' && headers['x-csrf-token'] !== csrfToken) return refuse(response, 403, 'FORBIDDEN')
    const answer = answerOf(state, method, path)
    return answer ? answer(incoming, response) : forward(incoming, response, system)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const signInLink = () => {
    const token = randomUUID()
    state.tokens.add(token)
    return `${url}/console/sign-in#token=${token}`
  }
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url, signInLink, close }
}
