import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import t from 'tap'
import type { Logger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createCanary } from '#worker/canary.ts'
import { createEvents } from '#worker/events.ts'

t.test('canary: counts and reports each connection that it hears', async (t) => {
  const metrics = createMetrics('worker')
  const errors: string[] = []
  const log = { error: (message: string) => errors.push(message) } as unknown as Logger
  const { server, heard } = createCanary(createEvents(log, metrics).canaryHeard)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  t.match(await metrics.text(), /^shutterfleet_worker_canary_connections_total\{service="worker"\} 0$/m)
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(client, 'close')
  t.equal(heard(), 1)
  t.equal(errors.length, 1)
  t.match(await metrics.text(), /^shutterfleet_worker_canary_connections_total\{service="worker"\} 1$/m)
})
