import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import { createTestContext } from '#test/helpers/gateway-context.ts'

const start = (t: Test) => {
  const app = createApp(createTestContext())
  t.teardown(() => app.close())
  return (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers })
}

t.test('reference: the document has the public address, whatever the Host of the request', async (t) => {
  const get = start(t)
  for (const prefix of ['/v1', '/api/v1']) {
    const answer = await get(`${prefix}/openapi.json`, { host: 'evil.example', 'x-forwarded-host': 'evil.example' })
    t.match([answer.statusCode, answer.headers['content-type']], [200, /^application\/json/])
    t.match(answer.json(), { openapi: '3.1.0', servers: [{ url: 'https://shots.example' }] })
    t.match(answer.headers, { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' })
  }
})

t.test('docs page: loads its script from its own path, and connects to the service only', async (t) => {
  const get = start(t)
  for (const prefix of ['/v1', '/api/v1']) {
    const answer = await get(`${prefix}/docs`)
    t.match([answer.statusCode, answer.headers['content-type']], [200, 'text/html; charset=utf-8'])
    t.equal(
      answer.headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' https://shots.example; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    t.match(answer.body, '<title>Shutterfleet API reference</title>')
    const [, script = ''] = /<script src="([^"]+)"><\/script>/.exec(answer.body) ?? []
    const { pathname } = new URL(script, `http://x${prefix}/docs`)
    const { statusCode, headers, rawPayload } = await get(pathname)
    t.match([statusCode, headers['content-type']], [200, /^text\/javascript/])
    t.match(gunzipSync(rawPayload).toString(), "Scalar.createApiReference('#reference'")
  }
})

t.test('reference: HEAD has the headers of GET, and no body', async (t) => {
  const app = createApp(createTestContext())
  t.teardown(() => app.close())
  for (const url of ['/', '/v1/docs', '/v1/docs/reference.js', '/api/v1/openapi.json', '/favicon.ico']) {
    const [got, head] = await Promise.all([app.inject({ url }), app.inject({ method: 'HEAD', url })])
    const about = (answer: typeof got) => [
      answer.statusCode,
      ...['content-type', 'etag', 'location'].map((name) => answer.headers[name]),
    ]
    t.same(about(head), about(got), url)
    t.ok(got.statusCode < 400 && got.body.length > 0)
    t.equal(head.body, '')
  }
})

t.test('reference: returns 304 if the client has the document', async (t) => {
  const get = start(t)
  for (const path of ['/v1/openapi.json', '/v1/docs', '/v1/docs/reference.js']) {
    const { etag = '' } = (await get(path)).headers
    const again = await get(path, { 'if-none-match': etag })
    t.same([again.statusCode, again.body, again.headers['etag']], [304, '', etag])
    t.equal((await get(path, { 'if-none-match': '"other"' })).statusCode, 200)
  }
})

t.test('reference: rejects a too large head', async (t) => {
  const get = start(t)
  t.equal((await get('/v1/docs', { 'x-much': 'x'.repeat(70_000) })).statusCode, 414)
})
