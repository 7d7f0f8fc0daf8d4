import { Agent } from 'undici'
import t from 'tap'
import { createApp } from '#gateway/app.ts'
import { createObjectsServer } from '#gateway/http/objects-endpoint.ts'
import { serveCells } from '#gateway/router/serve-cells.ts'
import { createTestContext } from '#test/helpers/gateway-context.ts'

t.test('server options: every server keeps idle connections for longer than load balancers do', async (t) => {
  const context = createTestContext()
  const { events, clients, bodies, publicUrl } = context
  const app = createApp(context)
  t.teardown(() => app.close())
  const directory = { find: async () => undefined, forget: () => {}, doubt: () => {} }
  const routed = { forwarded: () => {}, notForwarded: () => {} }
  const router = { cells: [], directory, agent: new Agent(), publicUrl: publicUrl(), events: routed, clients, bodies }
  const files = { mayPut: () => false, beginUpload: async () => Promise.reject(new Error('no upload')) }
  const servers = [app.server, serveCells(router), createObjectsServer({ files, objectBytesMax: 1, events })]
  for (const { keepAliveTimeout, headersTimeout, requestTimeout } of servers)
    t.same([keepAliveTimeout, headersTimeout, requestTimeout], [72_000, 15_000, 120_000])
})
