import { Agent, createServer } from 'node:http'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { freeze } from '#test/helpers/freeze.ts'
import { attempt } from '#webhooks/attempt.ts'

t.test('attempt: the Retry-After of a refusal is part of the outcome', async (t) => {
  await using receiver = await listening(
    createServer((request, response) =>
      response.writeHead(request.url === '/busy' ? 429 : 200, { 'retry-after': '90' }).end(),
    ),
  )
  using agent = Object.assign(new Agent(), { [Symbol.dispose]: () => agent.destroy() })
  const send = (path: string) =>
    attempt(
      { agent, answerMs: 30_000 },
      { accountId: 'a', url: `https://127.0.0.1:${receiver.port}${path}`, headers: {}, body: '{}' },
    )
  t.same(await send('/busy'), { status: 429, failure: 'status', requestedMs: 90_000 })
  t.same(await send('/'), { status: 200, failure: null })
})

t.test('attempt: the first line of a refusal, or the code of a store, is part of the outcome', async (t) => {
  const bodies: Record<string, string> = {
    '/text': '\nno such hook\u0007\nsecond line',
    '/store': '<?xml version="1.0"?>\n<Error><Code>SignatureDoesNotMatch</Code><Message>…</Message></Error>',
    '/long': 'x'.repeat(5000),
  }
  await using receiver = await listening(
    createServer(({ url = '' }, response) => response.writeHead(url === '/ok' ? 200 : 400).end(bodies[url] ?? 'fine')),
  )
  using agent = Object.assign(new Agent(), { [Symbol.dispose]: () => agent.destroy() })
  const send = (path: string) =>
    attempt(
      { agent, answerMs: 30_000 },
      { accountId: 'a', url: `https://127.0.0.1:${receiver.port}${path}`, headers: {}, body: '{}' },
    )
  t.match(await send('/text'), { status: 400, failure: 'status', answer: /^no such hook ?$/ })
  t.match(await send('/store'), { status: 400, answer: 'SignatureDoesNotMatch' })
  t.match(await send('/long'), { status: 400, answer: 'x'.repeat(200) })
  t.same(await send('/ok'), { status: 200, failure: null })
})

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
