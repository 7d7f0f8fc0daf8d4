import t from 'tap'
import { createApp } from '#gateway/app.ts'
import { createTestContext } from '#test/helpers/gateway-context.ts'

t.test('public probes: respond without key and details, and are not ready once the service stops', async (t) => {
  let isStopping = false
  const app = createApp({ ...createTestContext(), isStopping: () => isStopping })
  t.teardown(() => app.close())
  const requestStatus = async (url: string, method: 'GET' | 'HEAD' = 'GET') =>
    (await app.inject({ method, url })).statusCode
  t.equal((await app.inject('/readyz')).body, 'ok\n')
  t.same(
    [await requestStatus('/healthz'), await requestStatus('/readyz'), await requestStatus('/readyz', 'HEAD')],
    [200, 200, 200],
  )
  isStopping = true
  t.same([await requestStatus('/healthz'), await requestStatus('/readyz')], [200, 503])
})

t.test('public probes: let the gateway rest, which each request ends', async (t) => {
  let requests = 0
  const markBusy = () => void (requests += 1)
  const app = createApp({ ...createTestContext(), rest: { markBusy } })
  t.teardown(() => app.close())
  await app.inject('/readyz')
  await app.inject('/healthz')
  t.equal(requests, 0)
  await app.inject('/v1/screenshots')
  t.equal(requests, 1)
})
