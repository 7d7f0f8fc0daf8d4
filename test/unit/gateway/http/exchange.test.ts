import t from 'tap'
import { createApp } from '#gateway/app.ts'
import { createTestContext, testKey } from '#test/helpers/gateway-context.ts'

// Contract: Another account's id, malformed id
t.test('exchange: unknown and malformed ids get the same response, after the same database query', async (t) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const bodies = []
  let queries = 0
  context.answers.find = () => {
    queries += 1
    return undefined
  }
  for (const id of ['33333333-3333-4333-8333-333333333333', 'nonsense', 'a'.repeat(5000), "1' or '1'='1"]) {
    for (const path of ['', '/image']) {
      const answer = await app.inject({
        url: `/v1/screenshots/${encodeURIComponent(id)}${path}`,
        headers: { authorization: `Bearer ${testKey}`, 'x-request-id': 'same' },
      })
      t.equal(answer.statusCode, 404)
      // The message quotes the id as sent, at most 100 characters of it.
      bodies.push(answer.body.replace(id.slice(0, 100), 'ID'))
      t.equal(queries, bodies.length, 'one query for each')
    }
  }
  t.equal(new Set(bodies).size, 1)
})

// Contract: 413
t.test('exchange: a body is bounded by what its operation needs; the message names the bound', async (t) => {
  const app = createApp(createTestContext())
  t.teardown(() => app.close())
  const send = async (url: string, bytes: number) => {
    const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' }
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload: '{}'.padEnd(bytes) })
    return [statusCode, /larger than (\d+) bytes/.exec(body)?.[1]]
  }
  t.same(await send('/console/api/session', 4097), [413, '4096'])
  t.equal((await send('/console/api/session', 4096))[0], 422)
  t.same(await send('/v1/webhooks', 65_537), [413, '65536'])
  t.equal((await send('/v1/webhooks', 65_536))[0], 422)
  t.equal((await send('/v1/screenshots', 65_537))[0], 422)
  t.same(await send('/v1/screenshots', 7_340_033), [413, '7340032'])
})
