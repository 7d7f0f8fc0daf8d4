import t from 'tap'
import { createApp } from '#gateway/app.ts'
import {
  completedCapture,
  createTestContext,
  pendingCapture,
  testCaller,
  testKey,
} from '#test/helpers/gateway-context.ts'

type Asked = Parameters<ReturnType<typeof createTestContext>['answers']['list']>

const context = createTestContext()
const app = createApp(context)
t.teardown(() => app.close())
const asked: Asked[] = []
context.answers.list = (...of) => {
  asked.push(of)
  return {
    captures: [completedCapture, pendingCapture],
    hasOlder: true,
    hasNewer: false,
    total: 9,
    totalIsEstimated: false,
  }
}
const get = (path: string) => app.inject({ url: path, headers: { authorization: `Bearer ${testKey}` } })

// Contract: List shape
t.test('the list has full records, as the status has them', async (t) => {
  const { data } = (await get('/v1/screenshots')).json<{ data: Record<string, unknown>[] }>()
  const status = (await get(`/v1/screenshots/${completedCapture.id}`)).json<{ data: Record<string, unknown> }>()
  t.same(data[0], status.data)
  t.match(data[1], { id: pendingCapture.id, status: 'pending' })
  t.same(asked, [
    [
      { accountId: testCaller.accountId, status: undefined, from: undefined, to: undefined },
      { start: { skip: 0 }, limit: 20 },
    ],
  ])
})

t.test("links are of the public address, not of the caller's Host", async (t) => {
  const answer = await app.inject({
    url: '/api/v1/screenshots?per_page=2',
    headers: { authorization: `Bearer ${testKey}`, host: 'evil.example', 'x-forwarded-host': 'evil.example' },
  })
  t.notMatch(answer.body, 'evil.example')
  t.match(answer.json(), { links: { next: 'https://shots.example/v1/screenshots?per_page=2&page=2' } })
})

t.test('a page by number is skipped to, a cursor is gone on from', async (t) => {
  const { meta } = (await get('/v1/screenshots?page=3&per_page=7')).json<{ meta: { next_cursor: string } }>()
  t.match(asked.at(-1)?.[1], { start: { skip: 14 }, limit: 7 })
  await get(`/v1/screenshots?cursor=${meta.next_cursor}&status=failed`)
  const { id, createdAt } = pendingCapture
  t.match(asked.at(-1), [{ status: 'failed' }, { start: { direction: 'older', than: { id, createdAt } }, limit: 20 }])
})

t.test('a wrong parameter is a 422 with the limits of the account, and nothing is looked up', async (t) => {
  const before = asked.length
  const answer = await get('/v1/screenshots?page=0&pgae=1')
  t.match([answer.statusCode, answer.json()], [422, { error: { details: { page: [/whole/], pgae: [/parameter/] } } }])
  t.match(answer.headers, { 'x-ratelimit-limit': '40' })
  t.equal(asked.length, before)
})
