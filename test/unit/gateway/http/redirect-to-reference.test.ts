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

t.test('public probes: respond without key and details, and are not ready once the service stops', async (t) => {
  let stopping = false
  const app = createApp({ ...createTestContext(), isStopping: () => stopping })
  t.teardown(() => app.close())
  const statusOf = async (url: string, method: 'GET' | 'HEAD' = 'GET') => (await app.inject({ method, url })).statusCode
  t.equal((await app.inject('/readyz')).body, 'ok\n')
  t.same([await statusOf('/healthz'), await statusOf('/readyz'), await statusOf('/readyz', 'HEAD')], [200, 200, 200])
  stopping = true
  t.same([await statusOf('/healthz'), await statusOf('/readyz')], [200, 503])
})
