import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { createKubeApi, type KubeApi, type WatchEvent } from '#shared/kube/client.ts'
import { openConnection } from '#shared/kube/connection.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { startStubApiServer } from '#test/helpers/stub-api-server.ts'

const configMaps = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' }
const all = { resource: configMaps, namespace: 'n' }
const one = { ...all, name: 'one' }
const map = { metadata: { name: 'one' } }

type Setting = { readonly api: KubeApi; readonly connections: () => number; readonly namespace: string }
type TestEnd = { teardown: (clean: () => PromiseLike<void> | void) => void; testdir: () => string }

/** The client connected to a server that responds as `answer` does. */
const setUp = async (
  t: TestEnd,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  fence?: () => void,
): Promise<Setting> => {
  const { kubeconfig, connections } = await startStubApiServer(t, answer)
  const connection = openConnection({ kubeconfig, userAgent: 'shutterfleet/test' })
  t.teardown(() => connection[Symbol.asyncDispose]())
  return { api: createKubeApi(connection, fence), connections, namespace: connection.namespace }
}

/** A server that responds with `status` and a Status object. */
const refusing = (status: number, reason: string, message = '') =>
  ((_request, response) => {
    response.writeHead(status, { 'retry-after': '3' }).end(JSON.stringify({ kind: 'Status', reason, message }))
  }) as (request: IncomingMessage, response: ServerResponse) => void

const read = async (events: AsyncIterable<WatchEvent<KubeObject>>, into: string[] = []) => {
  for await (const { type, object } of events) into.push(`${type} ${object.metadata?.resourceVersion}`)
  return into
}
/** The rejection of a promise. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (thrown: unknown) => thrown,
  )
const watchAll = (api: KubeApi, signal = new AbortController().signal) =>
  api.watch(all, { resourceVersion: '1', timeoutSeconds: 300 }, signal)

t.test('client: identifies itself, and addresses resources as Kubernetes does', async (t) => {
  const requests: { method: string; url: string; type: string; body: string }[] = []
  const agents = new Set<unknown>()
  const { api, namespace } = await setUp(t, async (request, response) => {
    const { method = '', url = '', headers } = request
    agents.add(`${headers['user-agent']} ${headers.authorization}`)
    requests.push({ method, url, type: headers['content-type'] ?? '', body: await text(request) })
    response.end('{}')
  })
  await api.get({ ...one, subresource: 'status' })
  await api.list(all, { limit: 2, labelSelector: 'a=b', continueAt: 'x y' })
  await api.create(all, map, { fieldManager: 'me' })
  await api.patch(one, { kind: 'merge', body: { a: 1 } })
  await api.patch(one, { kind: 'apply', body: {}, fieldManager: 'me', force: true })
  await api.remove(one, { uid: 'u', propagation: 'Background' })
  const path = '/api/v1/namespaces/n/configmaps'
  t.match(requests, [
    { method: 'GET', url: `${path}/one/status`, type: '', body: '' },
    { method: 'GET', url: `${path}?limit=2&labelSelector=a%3Db&continue=x%20y`, type: '', body: '' },
    { method: 'POST', url: `${path}?fieldManager=me`, type: 'application/json', body: JSON.stringify(map) },
    { method: 'PATCH', url: `${path}/one`, type: 'application/merge-patch+json', body: '{"a":1}' },
    {
      method: 'PATCH',
      url: `${path}/one?fieldManager=me&force=true`,
      type: 'application/apply-patch+yaml',
      body: '{}',
    },
    { method: 'DELETE', url: `${path}/one`, type: 'application/json', body: /"preconditions":\{"uid":"u"\}/ },
  ])
  t.strictSame([...agents], ['shutterfleet/test Bearer secret'])
  t.equal(namespace, 'here')
})

t.test('client: reuses connections across requests', async (t) => {
  const { api, connections } = await setUp(t, (_request, response) => response.end('{}'))
  for (let request = 0; request < 50; request += 1) await api.get(one)
  t.ok(connections() <= 2, `${connections()}`)
})

const refusals = [
  { status: 409, reason: 'Conflict', outcome: 'conflict', code: 'SERVER_ERROR' },
  { status: 409, reason: 'AlreadyExists', outcome: 'already-exists', code: 'SERVER_ERROR' },
  { status: 404, reason: 'NotFound', outcome: 'not-found', code: 'SERVER_ERROR' },
  { status: 410, reason: 'Expired', outcome: 'gone', code: 'SERVER_ERROR' },
  { status: 429, reason: 'TooManyRequests', outcome: 'too-many-requests', code: 'SERVICE_UNAVAILABLE' },
  { status: 403, reason: 'Forbidden', outcome: 'forbidden', code: 'SERVER_ERROR' },
  { status: 401, reason: 'Unauthorized', outcome: 'forbidden', code: 'SERVER_ERROR' },
  { status: 422, reason: 'Invalid', outcome: 'invalid', code: 'SERVER_ERROR' },
  { status: 500, reason: 'InternalError', outcome: 'unavailable', code: 'SERVICE_UNAVAILABLE' },
  { status: 504, reason: 'Timeout', outcome: 'unavailable', code: 'SERVICE_UNAVAILABLE' },
] as const
for (const { status, reason, outcome, code } of refusals)
  t.test(`client: ${status} ${reason} is ${outcome}`, async (t) => {
    const { api } = await setUp(t, refusing(status, reason))
    t.match(await failureOf(api.get(one)), { name: 'KubeError', outcome, code, retryAfterSeconds: 3 })
  })

t.test('client: distinguishes an exhausted quota from a missing permission', async (t) => {
  const { api } = await setUp(t, refusing(403, 'Forbidden', 'pods "x" is forbidden: exceeded quota: compute'))
  t.match(await failureOf(api.create(all, map)), { outcome: 'quota', code: 'SERVICE_UNAVAILABLE' })
})

t.test('client: a truncated or non-JSON response is unavailable', async (t) => {
  const broken = await setUp(t, (request) => request.socket.destroy())
  t.match(await failureOf(broken.api.get(one)), { outcome: 'unavailable' })
  const half = await setUp(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{')
    setTimeout(() => response.destroy(), 20)
  })
  t.match(await failureOf(half.api.get(one)), { outcome: 'unavailable' })
  const strange = await setUp(t, (_request, response) => response.end('<html>'))
  t.match(await failureOf(strange.api.get(one)), { outcome: 'unavailable' })
  const busy = await setUp(t, (_request, response) => response.writeHead(429, { 'retry-after': '9' }).end('too many'))
  t.match(await failureOf(busy.api.get(one)), { outcome: 'too-many-requests', retryAfterSeconds: 9 })
})

t.test('client: aborts a request with its signal', async (t) => {
  const arrived = Promise.withResolvers<void>()
  const { api } = await setUp(t, () => arrived.resolve())
  const stop = new AbortController()
  const failure = failureOf(api.get(one, stop.signal))
  await arrived.promise
  stop.abort()
  t.match(await failure, { outcome: 'unavailable' })
})

t.test('client: reads the events of a watch in any chunks', async (t) => {
  const lines = [
    { type: 'ADDED', object: { metadata: { resourceVersion: '7', name: 'ä'.repeat(50) } } },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '8' } } },
  ]
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const { api } = await setUp(t, async (request, response) => {
    t.match(request.url, /\?resourceVersion=1&timeoutSeconds=300&watch=true&allowWatchBookmarks=true$/)
    for (let from = 0; from < bytes.length; from += 3) {
      response.write(bytes.subarray(from, from + 3))
      await turn()
    }
    response.end()
  })
  t.strictSame(await read(watchAll(api)), ['ADDED 7', 'BOOKMARK 8'])
})

t.test(
  'client: a watch reports that the response has begun, before the first event, but not for an error status',
  async (t) => {
    const watchFor = async (answer: Parameters<typeof setUp>[1]) => {
      const { api } = await setUp(t, answer)
      let isOpen = false
      const query = { resourceVersion: '1', timeoutSeconds: 300 }
      const events = api.watch(all, query, new AbortController().signal, () => {
        isOpen = true
      })
      await read(events).catch(() => {})
      return isOpen
    }
    t.ok(await watchFor((_request, response) => void response.writeHead(200).end()))
    t.notOk(await watchFor((_request, response) => void response.writeHead(500).end()))
  },
)

t.test('client: a watch throws its error event, and on a broken connection', async (t) => {
  const expired = await setUp(t, (_request, response) =>
    response.end('{"type":"ERROR","object":{"code":410,"reason":"Expired"}}\n'),
  )
  t.match(await failureOf(read(watchAll(expired.api))), { outcome: 'gone' })
  const broken = await setUp(t, (_request, response) => {
    response.write('{"type":"ADDED","object":{}}\n')
    setTimeout(() => response.destroy(), 20)
  })
  const requests: string[] = []
  t.match(await failureOf(read(watchAll(broken.api), requests)), { outcome: 'unavailable' })
  t.equal(requests.length, 1)
})

t.test('client: checks the fence before each write, and sends none if it throws', async (t) => {
  const requests: string[] = []
  let isOpen = true
  const fence = () => {
    if (!isOpen) throw new AppError('SERVICE_UNAVAILABLE', { message: 'fenced' })
  }
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request.method ?? '')
    response.end('{}')
  }
  const { api } = await setUp(t, serve, fence)
  await api.patch(one, { kind: 'merge', body: {} })
  isOpen = false
  await t.rejects(api.patch(one, { kind: 'merge', body: {} }), { message: 'fenced' })
  await t.rejects(api.create(all, map), { message: 'fenced' })
  await t.rejects(api.remove(one), { message: 'fenced' })
  await api.get(one)
  t.strictSame(requests, ['PATCH', 'GET'])
})

t.test('client: checks the fence after the connection is open, since opening takes time', async (t) => {
  const requests: string[] = []
  const connected = () => requests.push('connected')
  subscribe('undici:client:connected', connected)
  t.teardown(() => unsubscribe('undici:client:connected', connected))
  const { api } = await setUp(
    t,
    (_request, response) => response.end('{}'),
    () => requests.push('asked'),
  )
  await api.create(all, map)
  t.strictSame(requests, ['connected', 'asked'])
})

t.test('client: an unusable configuration is a configuration error', async (t) => {
  t.throws(() => openConnection({ kubeconfig: 'no-such-file', userAgent: 'x' }), { code: 'CONFIGURATION' })
  t.throws(() => openConnection({ userAgent: 'x' }), { code: 'CONFIGURATION' }, 'outside of a pod')
})
