import t from 'tap'
import { createApp } from '#gateway/app.ts'
import { createTestContext } from '#test/helpers/gateway-context.ts'

t.test('redirect to reference: redirects to the reference under every prefix', async (t) => {
  const app = createApp(createTestContext())
  t.teardown(() => app.close())
  for (const path of ['/', '/v1', '/api/v1']) {
    const answer = await app.inject(path)
    t.match([answer.statusCode, answer.json()], [302, { data: { docs: 'v1/docs' } }])
    const { pathname } = new URL(String(answer.headers.location), `http://x${path}`)
    t.equal((await app.inject(pathname)).statusCode, 200, pathname)
  }
  t.equal((await app.inject({ method: 'POST', url: '/' })).statusCode, 404)
})
