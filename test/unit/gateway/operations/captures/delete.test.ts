import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import { completedCapture, createTestContext, testKey } from '#test/helpers/gateway-context.ts'

const path = `/v1/screenshots/${completedCapture.id}`
const authorization = `Bearer ${testKey}`

const start = (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const remove = (url = path, headers: Record<string, string> = { authorization }, payload?: string) =>
    app.inject({ method: 'DELETE', url, headers, ...(payload !== undefined && { payload }) })
  return { context, remove }
}

t.test('delete: returns 204 with the rate headers only, and frees a slot of the account', async (t) => {
  const { context, remove } = start(t)
  const answer = await remove()
  t.same([answer.statusCode, answer.payload], [204, ''])
  t.ok(answer.headers['x-ratelimit-limit'])
  t.notOk(answer.headers['content-type'])
  t.equal(context.calls.relayWakeups, 1)
})

t.test('delete: a deleted, malformed or foreign id is 404', async (t) => {
  const { context, remove } = start(t)
  t.equal((await remove('/v1/screenshots/not-an-id')).statusCode, 404)
  context.answers.find = () => undefined
  const answer = await remove(path.toUpperCase().replace('/V1/SCREENSHOTS', '/v1/screenshots'))
  t.same([answer.statusCode, answer.json().error.code], [404, 'NOT_FOUND'])
})

// Contract: Signed URL request
t.test('delete: ignores a body and its content type, rejects unknown parameters and a missing key', async (t) => {
  const { remove } = start(t)
  t.equal((await remove(path, { authorization, 'content-type': 'application/json' }, '')).statusCode, 204)
  t.equal((await remove(path, { authorization, 'content-type': 'text/plain' }, 'x')).statusCode, 204)
  const refused = await remove(`${path}?force=1`)
  t.same([refused.statusCode, refused.json().error.details], [422, { force: ['is not a parameter'] }])
  t.equal((await remove(path, {})).statusCode, 401)
})
