import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import type { Refusal } from '#shared/db/check-request.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { createApp } from '#gateway/app.ts'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { routes } from '#gateway/routes.ts'
import { signIn } from '#test/helpers/console-client.ts'
import { createContract, documentedPairs } from '#test/helpers/contract.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { completedCapture, createTestContext, testCaller, testKey } from '#test/helpers/gateway-context.ts'
import { type RunningGateway, startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'
import { validateResponses } from '#test/helpers/validate-responses.ts'

const covered = new Set<string>()
const url = 'https://example.com/'
const missing = '99999999-9999-4999-8999-999999999999'
const json = { 'content-type': 'application/json' }

type Data = { data: { id: string; url: string } & Record<string, unknown> }
type Call = (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<Response>

const startReal = async () => {
  const gateway = await startGateway(t, { STREAM_SECONDS: '20' })
  const { database, baseUrl } = gateway
  await replacePlans(database, defaultPlans)
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan: 'unlimited' })
  const { key } = await createKey(database, { accountId: id, name: 'key', domains: [], pepper: testPepper })
  const call: Call = (method, path, body, headers = {}) =>
    fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && json), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
  const image = Buffer.from('the bytes of an image')
  const html = Buffer.from('<p>')
  const fleet = startStandInFleet(gateway, ({ options }) => {
    if (options.url?.endsWith('/fails')) return { fails: 'DNS_FAILED' }
    return options.url?.endsWith('/waits') ? 'nothing' : { image, html }
  })
  t.teardown(() => fleet[Symbol.asyncDispose]())
  return { gateway, call }
}

const readId = async (answer: Response) => ((await answer.json()) as Data).data.id

type Expect = (status: number, ...parameters: Parameters<Call>) => Promise<Response>

const readAccount = async (expect: Expect) => {
  const id = await readId(await expect(200, 'POST', '/keys', { name: 'Website' }))
  await expect(204, 'DELETE', `/keys/${id}`)
  await (await expect(200, 'GET', '/account/activity/export?from=2026-01-01')).text()
  await (await expect(200, 'GET', '/events')).body?.cancel()
  for (const path of ['/keys', '/members', '/account', '/account/usage', '/account/activity'])
    await expect(200, 'GET', path)
  await expect(200, 'GET', '/account/targets')
  await expect(200, 'PUT', '/account/targets', { allow: [], deny: ['ads.example'] })
}

/** Changes to members are for sessions. */
const changeMembers = async (t: Test, gateway: RunningGateway) => {
  const { id: account } = await createAccount(gateway.database, { name: 'A', email: 'a@x.example', plan: 'unlimited' })
  const { call } = await signIn(gateway, account, 'owner')
  const expect = async (status: number, method: string, path: string, body?: object) => {
    const answer = await call(method, `/v1/members${path}`, { body })
    t.equal(answer.status, status, `${method} ${path}`)
    return answer
  }
  const id = await readId(await expect(200, 'POST', '', { email: 'ada@example.com', role: 'member' }))
  for (const each of [id, missing]) {
    const status = each === id ? 200 : 404
    await expect(status, 'PATCH', `/${each}`, { role: 'viewer' })
    await expect(status, 'POST', `/${each}/sign-in-link`)
    await expect(status === 200 ? 204 : 404, 'DELETE', `/${each}`)
  }
}

const useDestinations = async (expect: Expect) => {
  const uploads = '/upload-destinations'
  const destination = await readId(await expect(200, 'POST', uploads, bodies['upload_destination_create']))
  await expect(202, 'POST', `${uploads}/${destination}/test`)
  await expect(200, 'GET', uploads)
  await expect(204, 'DELETE', `${uploads}/${destination}`)
}

const viewLinks = async (expect: Expect) => {
  const keyId = await readId(await expect(200, 'POST', '/keys', { name: 'Links' }))
  await expect(200, 'POST', `/keys/${keyId}/link-secret`)
  const made = (await (await expect(200, 'POST', `/keys/${keyId}/links`, { parameters: { url } })).json()) as Data
  const path = made.data.url.slice(made.data.url.indexOf('/render'))
  const etag = (await expect(200, 'GET', path)).headers.get('etag') ?? ''
  await expect(200, 'HEAD', path)
  for (const method of ['GET', 'HEAD']) await expect(304, method, path, undefined, { 'if-none-match': etag })
}

// Contract: Success statuses
t.test('contract: successful responses and failed captures match the document', async (t) => {
  const { gateway, call } = await startReal()
  const expect: Expect = async (status, ...parameters) => {
    const answer = await call(...parameters)
    t.equal(answer.status, status, `${parameters[0]} ${parameters[1]}`)
    return answer
  }
  const webhookUrl = 'https://hooks.example.com/x?token=secret'

  await expect(200, 'GET', `/screenshots/capture?url=${url}`)
  await expect(200, 'GET', `/screenshots/capture?url=${url}&response_type=json`)
  await expect(202, 'GET', `/screenshots/capture?url=${url}&webhook_url=${webhookUrl}`)
  await expect(422, 'GET', `/screenshots/capture?url=${url}fails`)
  await expect(200, 'POST', '/screenshots/capture', { html: '<p>', response_type: 'json', quality: 3 })
  await expect(202, 'POST', '/screenshots/capture', { url, webhook_url: webhookUrl })
  await expect(422, 'POST', '/screenshots/capture', { url: `${url}fails` })
  await expect(200, 'POST', '/screenshots/capture', { url: `${url}fails`, response_type: 'json' })
  await expect(200, 'POST', '/screenshots', { url, response_type: 'image' })
  const waits = await readId(await expect(202, 'POST', '/screenshots', { url: `${url}waits` }))
  const failed = await readId(await expect(202, 'POST', '/screenshots', { url: `${url}fails` }))
  const id = await readId(await expect(202, 'POST', '/screenshots', { url, webhook_url: webhookUrl, cache_ttl: 60 }))

  for (const each of [waits, failed, id])
    await expect(200, 'GET', `/screenshots/${each}?wait=${each === waits ? 0 : 30}`)
  await expect(202, 'POST', '/screenshots', { url, webhook_url: webhookUrl, cache_ttl: 60 })
  await expect(200, 'GET', '/screenshots?per_page=3')
  await (await expect(200, 'GET', `/screenshots/${id}/events`)).text()
  await expect(204, 'GET', `/screenshots/${id}/events`, undefined, { 'last-event-id': 'result' })

  const etag = (await expect(200, 'GET', `/screenshots/${id}/image`)).headers.get('etag') ?? ''
  await expect(206, 'GET', `/screenshots/${id}/image`, undefined, { range: 'bytes=0-3' })
  await expect(416, 'GET', `/screenshots/${id}/image`, undefined, { range: 'bytes=9000-' })
  await expect(404, 'GET', `/screenshots/${waits}/image`)
  for (const method of ['GET', 'HEAD'])
    await expect(304, method, `/screenshots/${id}/image`, undefined, { 'if-none-match': etag })
  await expect(200, 'HEAD', `/screenshots/${id}/image`)
  const file = `/screenshots/${id}/files/html`
  const known = (await expect(200, 'GET', file)).headers.get('etag') ?? ''
  await expect(304, 'GET', file, undefined, { 'if-none-match': known })
  const link = (await (await expect(200, 'POST', `/screenshots/${id}/signed-url`)).json()) as Data
  t.equal((await fetch(link.data.url)).status, 200)
  t.equal((await fetch(`${link.data.url}0`)).status, 403)

  const batch = await readId(await expect(202, 'POST', '/screenshots/batch', { urls: [url, `${url}fails`] }))
  await (await expect(200, 'GET', `/screenshots/batch/${batch}/events`)).text()
  await expect(204, 'GET', `/screenshots/batch/${batch}/events`, undefined, { 'last-event-id': 'result' })
  await expect(200, 'GET', '/screenshots/batch')
  await expect(200, 'GET', `/screenshots/batch/${batch}`)

  for (const use of [readAccount, viewLinks, useDestinations]) await use(expect)
  await changeMembers(t, gateway)
  for (const path of ['/openapi.json', '/docs']) {
    const tag = (await expect(200, 'GET', path)).headers.get('etag') ?? ''
    await expect(304, 'GET', path, undefined, { 'if-none-match': tag })
  }

  const hook = await readId(await expect(200, 'POST', '/webhooks', { url: webhookUrl }))
  for (const path of ['/webhooks', `/webhooks/${hook}`]) await expect(200, 'GET', path)
  await expect(200, 'PATCH', `/webhooks/${hook}`, { description: 'Other' })
  await expect(200, 'POST', `/webhooks/${hook}/rotate-secret`)
  const delivery = await readId(await expect(202, 'POST', `/webhooks/${hook}/test`))
  await expect(200, 'GET', `/webhooks/${hook}/deliveries`)
  await expect(202, 'POST', `/webhooks/${hook}/deliveries/${delivery}/redeliver`)
  const sent = (await (await expect(200, 'GET', `/screenshots/${id}/deliveries`)).json()) as { data: Data['data'][] }
  await expect(202, 'POST', `/screenshots/${id}/deliveries/${sent.data[0]?.id}/redeliver`)
  await expect(204, 'DELETE', `/webhooks/${hook}`)
  await expect(204, 'DELETE', `/screenshots/${id}`)
  await eventually(() => gateway.seenPairs.has('delete 204'))
  for (const pair of gateway.seenPairs) covered.add(pair)
})

type Context = ReturnType<typeof createTestContext>
type Sent = { headers?: Record<string, string>; body?: string | Buffer; query?: string }
/** Sets up the doubles of a context so that every operation responds with one status; returns what to send. */
type Fault = (context: Context) => Sent | void

const refused =
  (refusal: Omit<Refusal, 'ok' | 'caller'>): Fault =>
  ({ answers }) => {
    const outcome = { ok: false, caller: testCaller, ...refusal } as const
    answers.check = () => outcome
    answers.accept = () => outcome
    answers.acceptBatch = () => outcome
  }

const thrown =
  (error: () => Error): Fault =>
  (context) => {
    const fail = () => {
      throw error()
    }
    context.answers.check = fail
    context.answers.accept = fail
    context.answers.acceptBatch = fail
    Object.assign(context, { reference: { document: fail, page: fail } })
  }

/** A request that was accepted before; `left` is what remains of its capture. */
const replayed = ({ answers }: Context, left: typeof completedCapture | undefined) => {
  const outcome = {
    ok: true,
    caller: testCaller,
    createdAt: '',
    admitted: true,
    replayOf: completedCapture.id,
  } as const
  answers.accept = () => outcome
  answers.acceptBatch = () => ({ ...outcome, admittedIds: [] })
  answers.find = () => left
}

const faults: Readonly<Record<number, Fault>> = {
  401: () => ({ headers: { authorization: 'Bearer none' } }),
  402: refused({ code: 'USAGE_LIMIT_EXCEEDED' }),
  403: refused({ code: 'DOMAIN_NOT_ALLOWED' }),
  404: (context) => replayed(context, undefined),
  410: (context) => {
    replayed(context, { ...completedCapture, objectKey: null })
    const { rendering } = context.answers
    context.answers.rendering = { ...rendering, ...completedCapture, objectKey: null, imageId: completedCapture.id }
  },
  413: () => ({ body: Buffer.alloc(7 * 1024 * 1024 + 1, 0x20) }),
  414: () => ({ headers: { 'x-much': 'x'.repeat(70_000) } }),
  422: () => ({ query: '?nonsense=1', body: '{"nonsense":1}' }),
  429: refused({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 9 }),
  500: thrown(() => new Error('unforeseen')),
  503: thrown(() => new AppError('SERVICE_UNAVAILABLE', { message: 'connect ECONNREFUSED' })),
}

const bodies: Readonly<Record<string, object>> = {
  capture_post: { url },
  create: { url, response_type: 'image' },
  batch: { urls: [url] },
  key_create: { name: 'Website' },
  link_create: { parameters: { url } },
  member_add: { email: 'ada@example.com', role: 'member' },
  member_change: { role: 'member' },
  webhook_create: { url: 'https://hooks.example.com/' },
  webhook_change: {},
  upload_destination_create: {
    ...{ name: 'archive', endpoint: 'https://s3.example.com', bucket: 'shots' },
    ...{ access_key_id: 'a', secret_access_key: 'b' },
  },
}

const startDoubles = async () => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  return { context, baseUrl, watched: validateResponses(t, baseUrl) }
}

const sendTo = (baseUrl: string, { name, method, path }: (typeof routes)[number], sent: Sent) => {
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const own = name === 'capture_get' ? `?url=${url}` : ''
  const link = `?url=${url}&key_id=${missing}&signature=${'0'.repeat(64)}`
  const query = path === '/render' ? link + (sent.query ?? '').replace('?', '&') : (sent.query ?? own)
  const address = `${baseUrl}/v1${path.replaceAll(/:\w+/g, missing)}${query}`
  return fetch(address, {
    method,
    headers: { authorization: `Bearer ${testKey}`, ...(hasBody && json), ...sent.headers },
    ...(hasBody && { body: sent.body ?? JSON.stringify(bodies[name] ?? {}) }),
  })
}

t.test('contract: every error matches the document, on each operation that documents it', async (t) => {
  for (const [status, fault] of Object.entries(faults)) {
    const { context, baseUrl, watched } = await startDoubles()
    const sent = fault(context) ?? {}
    for (const route of routes.filter(({ name }) => documentedPairs.includes(`${name} ${status}`))) {
      if (status === '404' && route.name.startsWith('member_')) continue
      const answer = await sendTo(baseUrl, route, sent)
      t.equal(String(answer.status), status, `${route.name} ${await answer.text()}`)
    }
    for (const pair of watched.coveredResponses) covered.add(pair)
  }
})

t.test('contract: a request without Host is malformed, on every operation', async (t) => {
  const { baseUrl } = await startDoubles()
  const contract = createContract()
  for (const { method, path } of routes) {
    const address = `/v1${path.replaceAll(/:\w+/g, missing)}`
    const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
    socket.write(`${method} ${address} HTTP/1.1\r\nConnection: close\r\n\r\n`)
    const [head = '', content = ''] = (await text(socket)).split('\r\n\r\n')
    const [first = '', ...lines] = head.split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(': ')[0]?.toLowerCase(), line.slice(line.indexOf(': ') + 2)]),
    ) as Record<string, string>
    const status = Number(first.split(' ')[1])
    const body: unknown = content === '' ? undefined : JSON.parse(content)
    t.same(contract.check({ method, path: address, status, headers, body }), [], `${method} ${path}`)
  }
  for (const pair of contract.coveredResponses) covered.add(pair)
})

t.test('contract: every documented pair of operation and status was seen', (t) => {
  t.same(
    documentedPairs.filter((pair) => !covered.has(pair)),
    [],
  )
  t.end()
})

t.test('contract: the recorder reports responses that differ from the document', (t) => {
  const { check } = createContract()
  const headers = { 'x-request-id': 'x', 'access-control-allow-origin': '*', 'content-type': 'application/json' }
  const usage = { method: 'GET', path: '/api/v1/account/usage', status: 200, headers }
  t.match(check({ ...usage, body: { data: {}, more: 1 } }).join(), /additional properties.*required property/)
  t.same(check({ ...usage, status: 418 }), ['usage 418 is not documented'])
  t.match(check({ ...usage, headers: { ...headers, 'x-request-id': undefined } }).join(), 'X-Request-Id is missing')
  t.match(check({ ...usage, headers: { ...headers, 'x-usage-limit': 'many' } }).join(), 'X-Usage-Limit')
  t.match(check({ ...usage, headers: { ...headers, 'content-type': 'text/html' } }).join(), 'undocumented content type')
  const { paths } = openapiDocument(routes, '')
  t.ok(Object.keys(paths).length > 20)
  t.end()
})
