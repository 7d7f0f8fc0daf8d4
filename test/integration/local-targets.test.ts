import { createServer } from 'node:http'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { startSystem } from '#test/helpers/system.ts'

// The lists of targets in a whole system: from the operation, by queue and worker, to the connections of a page.

const requested: string[] = []
const site = await listening(
  createServer((request, response) => {
    requested.push(`${request.headers.host?.split(':')[0]}${request.url}`)
    const port = request.socket.localPort
    if (request.url === '/to') response.writeHead(302, { location: `http://localhost:${port}/` }).end()
    else response.setHeader('content-type', 'text/html').end(`<body><img src="http://localhost:${port}/image">`)
  }),
)
const system = await startSystem(
  ['127.0.0.1', 'localhost'].flatMap((host) => ['--allow-target', `${host}:${site.port}`]).concat('--workers-max', '1'),
)
t.teardown(async () => {
  await system.stop()
  await site[Symbol.asyncDispose]()
})

const url = `http://127.0.0.1:${site.port}/`

const replace = async (lists: { allow?: readonly string[]; deny?: readonly string[] }) => {
  const answer = await system.request('/v1/account/targets', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ allow: [], deny: [], ...lists }),
  })
  t.equal(answer.status, 200)
}

const capture = async (target: string, more: object = {}) => {
  requested.length = 0
  const answer = await system.post('/v1/screenshots/capture', {
    url: target,
    response_type: 'json',
    timeout: 10,
    ...more,
  })
  const body = (await answer.json()) as { data?: { status: string; error?: { code: string; message: string } } }
  return { status: answer.status, ...body, requested: new Set(requested) }
}

// Contract: Targets of an account
t.test('local targets: a capture has the lists that its account has when it is accepted', async (t) => {
  const image = 'localhost/image'
  const before = await capture(url)
  t.match(before, { status: 200, data: { status: 'completed' } })
  t.ok(before.requested.has(image))

  await replace({ deny: ['localhost'] })
  const denied = await capture(url)
  t.match(denied, { status: 200, data: { status: 'completed' } })
  t.notOk(denied.requested.has(image))
  t.match(await capture(`http://LOCALHOST:${site.port}/`), {
    status: 422,
    error: { details: { url: [/entry localhost/] } },
  })
  const redirected = await capture(`${url}to`)
  t.match(redirected.data, { error: { code: 'BLOCKED', message: /targets of the account do not allow .* localhost/ } })

  await replace({ deny: ['127.0.0.0/8'] })
  const byAddress = await capture(`http://localhost:${site.port}/`)
  t.match(byAddress.data, { status: 'failed', error: { code: 'BLOCKED' } }, 'a name that resolves to a denied address')
  t.equal(byAddress.requested.size, 0)

  await replace({})
  t.ok((await capture(url)).requested.has(image), 'no list is left in worker or egress')
  const metrics = await system.metrics('egress')
  t.match(metrics, /egress_requests_refused_total\{[^}]*refusal="denied_by_account"[^}]*\} [1-9]/)
})
