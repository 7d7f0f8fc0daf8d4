import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { startSpan, startTrace } from '#shared/telemetry/trace.ts'
import { startTracing } from '#shared/telemetry/tracing.ts'

const parentContext = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const { env } = process
t.teardown(() => {
  for (const name of Object.keys(env)) if (name.startsWith('OTEL_')) delete env[name]
})

t.test('tracing: is off without an endpoint, and in services without network access to a collector', async (t) => {
  t.equal(await startTracing('gateway', {}), undefined)
  for (const service of ['worker', 'egress', 'controller']) {
    t.equal(await startTracing(service, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }), undefined)
  }
})

t.test('tracing: sends spans to the OTLP endpoint of the standard variables, under the service name', async (t) => {
  const bodies: Promise<Buffer>[] = []
  const collector = createServer((request, response) => {
    bodies.push(buffer(request).finally(() => response.end()))
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  t.teardown(() => collector.close())
  env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  {
    await using _tracing = await startTracing('ledger', env)
    const span = startTrace({ name: 'a step', traceparent: parentContext })
    t.match(span.traceparent, /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/)
    t.not(span.traceparent, parentContext)
    span.end({ attributes: { 'http.response.status_code': 200 } })
    startSpan({ name: 'a later step', traceparent: span.traceparent, atMs: Date.now() - 1000 }).end({
      atMs: Date.now(),
    })
    startSpan({ name: 'an unsampled step', traceparent: parentContext.replace(/01$/, '00') }).end()
    const sampled = Array.from({ length: 2000 }, () => startTrace({ name: 'own', traceparent: undefined })).filter(
      ({ traceparent }) => traceparent !== undefined,
    )
    t.ok(sampled.length > 20 && sampled.length < 300, `one in twenty of 2000 is sampled: ${sampled.length}`)
  }
  t.equal(bodies.length, 1)
  const sent = (await bodies[0])?.toString('latin1')
  t.match(sent, /shutterfleet-ledger[^]*a step[^]*a later step/)
  t.notMatch(sent, 'unsampled')
})
