import { Agent, createServer } from 'node:http'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { freeze } from '#test/helpers/freeze.ts'
import { attempt } from '#webhooks/attempt.ts'

t.test('attempt: a response that arrived while the sender was frozen is in time', async (t) => {
  await using receiver = await listening(
    createServer((_request, response) => {
      response.end('ok', () => freeze(2200))
    }),
  )
  using agent = Object.assign(new Agent(), { [Symbol.dispose]: () => agent.destroy() })
  const post = { accountId: 'a', url: `https://127.0.0.1:${receiver.port}/`, headers: {}, body: '{}' }
  t.same(await attempt({ agent, answerMs: 500 }, post), { status: 200, failure: null })
})
