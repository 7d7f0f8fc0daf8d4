import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import { verifyLink, readLink } from '#gateway/links/links.ts'
import { completedCapture, createTestContext, pendingCapture, testKey } from '#test/helpers/gateway-context.ts'

const { id } = completedCapture
const authorization = `Bearer ${testKey}`
const json = { authorization, 'content-type': 'application/json' }

const start = (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const sign = async (
    payload?: string,
    headers: Record<string, string> = json,
    url = `/v1/screenshots/${id}/signed-url`,
  ) => {
    const answer = await app.inject({ method: 'POST', url, headers, ...(payload !== undefined && { payload }) })
    return { status: answer.statusCode, body: answer.json() }
  }
  return { context, sign }
}

// Contract: Signed URL response
// Contract: Signed URL form
t.test('sign url: a link is valid for an hour by default, and has the public address', async (t) => {
  const { context, sign } = start(t)
  const { status, body } = await sign('{}', { ...json, host: 'evil.example', 'x-forwarded-host': 'evil.example' })
  t.equal(status, 200)
  t.match(body, { data: { expires_in: 60, expires_at: '2026-06-01T13:34:56.000000Z' } })
  const url = new URL(body.data.url)
  t.equal(url.origin + url.pathname, `https://shots.example/v1/screenshots/${id}/image`)
  t.same([...url.searchParams.keys()], ['expires', 'kid', 'signature'])
  t.equal(url.searchParams.get('expires'), String(Date.parse('2026-06-01T13:34:56Z') / 1000))
  t.equal(verifyLink(context.links.keys, id, readLink(url.search.slice(1))!, context.now()), 'good')
})

// Contract: Signed URL request
t.test('sign url: an empty body means the defaults, with or without a content type', async (t) => {
  const { sign } = start(t)
  for (const headers of [json, { authorization }, { authorization, 'content-type': 'text/plain' }]) {
    t.match(await sign('', headers), { status: 200, body: { data: { expires_in: 60 } } })
    t.match(await sign(undefined, headers), { status: 200, body: { data: { expires_in: 60 } } })
  }
})

// Contract: Signed URL response
t.test('sign url: zero minutes make a permanent link; the maximum is a year', async (t) => {
  const { sign } = start(t)
  const { body } = await sign('{"expires_in":0}')
  t.match(body, { data: { expires_in: 0, expires_at: null } })
  t.same([...new URL(body.data.url).searchParams.keys()], ['kid', 'signature'])
  t.match(await sign('{"expires_in":525600}'), { body: { data: { expires_at: '2027-06-01T12:34:56.000000Z' } } })
})

// Contract: Signed URL response
t.test('sign url: rejects an expires_in out of bounds, and unknown parameters, by name', async (t) => {
  const { sign } = start(t)
  for (const bad of ['-1', '525601', '1.5', '"60"', 'null', 'true', '[]', '1e99']) {
    const details = { expires_in: ['must be a whole number from 0 to 525600'] }
    t.match(await sign(`{"expires_in":${bad}}`), { status: 422, body: { error: { details } } }, bad)
  }
  const unknown = await sign('{"expires":5,"expires_in":-1,"kid":"x"}')
  t.same(Object.keys(unknown.body.error.details).toSorted(), ['expires', 'expires_in', 'kid'])
  t.match(await sign('[]'), { status: 422, body: { error: { details: { body: ['must be a JSON object'] } } } })
  t.match(await sign('{'), { status: 400 })
  t.match(await sign('{}', { authorization }), { status: 400 }, 'a body needs a content type')
  t.match(await sign('{}', json, `/v1/screenshots/${id}/signed-url?a=1`), { status: 422 })
})

// Contract: Signed URL request
t.test('sign url: requires the feature in the plan, and a capture of the account in any state', async (t) => {
  const { context, sign } = start(t)
  context.answers.find = () => pendingCapture
  t.equal((await sign('{}')).status, 200)
  context.answers.find = () => undefined
  t.match(await sign('{}'), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  context.answers.find = () => pendingCapture
  context.answers.signs = false
  t.match(await sign('{}'), {
    status: 403,
    body: { error: { code: 'FEATURE_NOT_AVAILABLE', message: /signed_urls/ } },
  })
  t.match(await sign('{"a":1}'), { status: 422 }, 'faults of the body come first')
  t.match(await sign('{}', {}), { status: 401 })
})
