import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import { createTestContext, testCaller, testKey } from '#test/helpers/gateway-context.ts'

const url = 'https://example.com/'
const bodies = {
  '/v1/screenshots': { url },
  '/v1/screenshots/capture': { url, webhook_url: 'https://hooks.example.com/' },
  '/v1/screenshots/batch': { urls: [url] },
}
const problem = 'is not allowed in the query: a POST takes its parameters from the body'

const start = (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    app.inject({
      method: 'POST',
      url: path,
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const readErrors = async (path: string, body: unknown, headers?: Record<string, string>) => {
    const answer = await post(path, body, headers)
    t.equal(answer.statusCode, 422, path.slice(0, 60))
    return answer.json<{ error: { details: Record<string, string[]> } }>().error.details
  }
  const accepted = () => [...context.calls.accepted, ...context.calls.tried, ...context.calls.batches]
  return { context, post, readErrors, accepted }
}

// Contract: Validation
t.test('read request: rejects each query parameter of a POST by name, along with all faults of the body', async (t) => {
  for (const [path, body] of Object.entries(bodies)) {
    const { post, readErrors, accepted } = start(t)
    t.same(await readErrors(`${path}?full_page=true&typo`, body), { full_page: [problem], typo: [problem] })
    t.same(await readErrors(`/api${path}?full_p%61ge=1`, body), { full_page: [problem] })
    t.match(await readErrors(`${path}?width=400&delay=1`, { ...body, width: 1, wdith: 1 }, { 'idempotency-key': '' }), {
      width: ['must be a whole number from 320 to 3840', problem],
      delay: [problem],
      wdith: ['is not a parameter; did you mean width?'],
      'Idempotency-Key': [/1 to 255/],
    })
    t.same(await readErrors(`${path}?${'a=1&'.repeat(201)}`, body), { query: ['must have at most 200 pairs'] })
    t.same(accepted(), [], 'nothing is stored')
    for (const nothing of ['', '?', '?&'])
      t.equal((await post(`${path}${nothing}`, body)).statusCode, 202, `${path}${nothing}`)
  }
})

t.test('read request: validates the query of a POST together with the parameters', async (t) => {
  const { context, post, accepted } = start(t)
  for (const [path, body] of Object.entries(bodies)) {
    const stray = `${path}?typo=1`
    context.answers.check = () => ({ ok: true, caller: testCaller })
    t.equal((await post(stray, body, { authorization: 'Bearer none' })).statusCode, 401)
    t.equal((await post(stray, '{')).statusCode, 400)
    t.equal((await post(stray, { ...body, geolocation: { latitude: 1, longitude: 1 } })).statusCode, 422, 'before plan')
    for (const code of ['DOMAIN_NOT_ALLOWED', 'RATE_LIMIT_EXCEEDED'] as const) {
      context.answers.check = () => ({ ok: false, code, caller: testCaller, retryAfterSeconds: 9 })
      t.equal((await post(stray, body)).json<{ error: { code: string } }>().error.code, code)
    }
  }
  t.same(accepted(), [])
})
