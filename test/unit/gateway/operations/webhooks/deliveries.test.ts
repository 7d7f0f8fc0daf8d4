import t, { type Test } from 'tap'
import { writeCursor } from '#gateway/http/cursor.ts'
import { createApp } from '#gateway/app.ts'
import { completedCapture, createTestContext, testKey } from '#test/helpers/gateway-context.ts'

const delivery = (second: string) => ({
  id: `00000000-0000-4000-8000-0000000000${second}`,
  event: 'webhook.test' as const,
  screenshot_id: null,
  webhook_id: null,
  url: 'https://example.com/',
  status: 'pending' as const,
  created_at: `2026-02-28T12:00:${second}.000001Z`,
  sent_at: null,
  next_attempt_at: null,
  attempts: [],
})

const start = (t: Test, found: readonly ReturnType<typeof delivery>[] = []) => {
  const context = createTestContext()
  const queries: unknown[] = []
  context.answers.deliveries = (parameters) => {
    const [createdAt, id, limit] = parameters.slice(2)
    queries.push({ createdAt, id, limit })
    return found.slice(0, Number(limit))
  }
  const app = createApp(context)
  t.teardown(() => app.close())
  const list = async (query: string) => {
    const url = `/v1/screenshots/${completedCapture.id}/deliveries?${query}`
    const answer = await app.inject({ url, headers: { authorization: `Bearer ${testKey}` } })
    return { status: answer.statusCode, body: answer.json() }
  }
  return { queries, list }
}

t.test('deliveries: a page continues after the last delivery of the previous page', async (t) => {
  const { queries, list } = start(t, [delivery('03'), delivery('02'), delivery('01')])
  const { body } = await list('per_page=2')
  t.equal(body.data.length, 2)
  const { created_at: createdAt, id } = delivery('02')
  await list(`cursor=${body.meta.next_cursor}`)
  t.same(queries, [
    { limit: 3, createdAt: null, id: null },
    { limit: 21, createdAt, id },
  ])
  t.match(await list('per_page=3'), { status: 200, body: { meta: { per_page: 3, next_cursor: null } } })
})

t.test('deliveries: rejects a cursor that is not a next_cursor, impossible dates included', async (t) => {
  const { list } = start(t)
  const { id, created_at: createdAt } = delivery('01')
  const texts = ['x', `2026-02-30T00:00:00.000000Z ${id}`, `0000-01-01T00:00:00.000000Z ${id}`]
  const forged = [
    ...texts.map((text) => Buffer.from(text).toString('base64url')),
    writeCursor({ direction: 'older', position: { createdAt: '2026-02-30T00:00:00.000000Z', id } }),
    writeCursor({ direction: 'newer', position: { createdAt, id } }),
  ]
  for (const cursor of forged) {
    const details = { cursor: ['must be the next_cursor of an earlier answer'] }
    t.match(await list(`cursor=${cursor}`), { status: 422, body: { error: { details } } }, cursor)
  }
})
