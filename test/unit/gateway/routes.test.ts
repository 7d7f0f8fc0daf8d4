import t, { type Test } from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { createApp } from '#gateway/app.ts'
import type { Operation } from '#gateway/operations/operation.ts'
import { prefixes, routes } from '#gateway/routes.ts'
import { completedCapture, createTestContext, testCaller, testKey } from '#test/helpers/gateway-context.ts'

const start = (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const call = (
    { method, path }: Pick<Operation, 'method' | 'path'>,
    headers: Record<string, string>,
    prefix = '/v1',
  ) =>
    app.inject({
      method,
      url: prefix + path.replaceAll(/:\w+/g, completedCapture.id),
      headers: { ...(method === 'POST' && { 'content-type': 'application/json' }), ...headers },
      ...(method === 'POST' && { payload: '{}' }),
    })
  return { context, call }
}
/** The reference needs no key and no database. */
const open = ['openapi', 'docs']
/** A link that captures has its signature instead. */
const signed = ['render', 'render_head']
const keyed = routes.filter(({ name }) => ![...open, ...signed].includes(name))
const authorization = `Bearer ${testKey}`
const limits = { 'x-ratelimit-limit': '40', 'x-usage-limit': '100', 'x-usage-reset': testCaller.usage.resetAt }

t.test('routes: every operation needs a key, and makes no database query without one', async (t) => {
  const { context, call } = start(t)
  for (const route of keyed) {
    for (const prefix of prefixes) t.equal((await call(route, {}, prefix)).statusCode, 401, route.name)
  }
  t.same([context.calls.checks, context.calls.accepted.length, context.calls.tried.length], [0, 0, 0])
})

t.test('routes: a link that captures needs its signature, and a key in its place is not enough', async (t) => {
  const { context, call } = start(t)
  for (const route of routes.filter(({ name }) => signed.includes(name))) {
    for (const headers of [{}, { authorization }]) t.equal((await call(route, headers)).statusCode, 403, route.name)
  }
  t.same([context.calls.checks, context.calls.accepted.length, context.calls.tried.length], [0, 0, 0])
})

t.test('routes: the reference needs no key and no database, under both prefixes', async (t) => {
  const { context, call } = start(t)
  for (const route of routes.filter(({ name }) => open.includes(name))) {
    for (const prefix of prefixes) t.equal((await call(route, {}, prefix)).statusCode, 200, route.name)
  }
  t.equal(context.calls.checks, 0)
})

// Contract: Rate headers
t.test('routes: every operation sends the rate headers of the account, with any status', async (t) => {
  const { call } = start(t)
  for (const route of keyed) {
    const answer = await call(route, { authorization })
    t.match(answer.headers, limits, `${route.name}: ${answer.statusCode}`)
  }
})

// Contract: Order of checks
t.test('routes: every operation applies the minute limit and the domains of the key', async (t) => {
  const { context, call } = start(t)
  for (const [code, status] of [
    ['RATE_LIMIT_EXCEEDED', 429],
    ['DOMAIN_NOT_ALLOWED', 403],
  ] as const) {
    const refusal = { ok: false, code, retryAfterSeconds: 17, caller: testCaller } as const
    context.answers.check = () => refusal
    context.answers.accept = () => refusal
    for (const route of keyed) {
      const answer = await call(route, { authorization })
      t.equal(answer.statusCode, status, route.name)
      t.match(answer.headers, limits, route.name)
    }
  }
})

// Contract: Overload
t.test('routes: every operation returns 503 while the database is unreachable', async (t) => {
  const { context, call } = start(t)
  const away = () => {
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'connect ECONNREFUSED 10.0.0.1:5432' })
  }
  context.answers.check = away
  context.answers.accept = away
  for (const route of keyed) {
    const answer = await call(route, { authorization })
    t.equal(answer.statusCode, 503, route.name)
    t.notMatch(answer.body, 'ECONNREFUSED')
  }
})

t.test('routes: each method of a path has one operation, with a unique name', async (t) => {
  t.equal(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size, routes.length)
  t.equal(new Set(routes.map(({ name }) => name)).size, routes.length)
})

t.test(
  'routes: rejects an unknown query parameter by name, except for images, the reference and capture bodies',
  async (t) => {
    const { call } = start(t)
    const free = ['create', 'batch', 'capture_post', 'image', 'image_head']
    // The deliveries of a missing capture or webhook return 404 first.
    const gone = ['capture_deliveries', 'webhook_deliveries']
    for (const route of routes.filter(({ name }) => ![...free, ...gone, ...open, ...signed].includes(name))) {
      const answer = await call({ method: route.method, path: `${route.path}?nonsense=1` }, { authorization })
      t.match(answer.json(), { error: { details: { nonsense: ['is not a parameter'] } } }, route.name)
    }
  },
)
