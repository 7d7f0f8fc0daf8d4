import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { continueTrace } from '#shared/telemetry/trace.ts'
import { startTracing } from '#shared/telemetry/tracing.ts'

t.test('sends spans to the OTLP endpoint of the standard variables, under the service name', async (t) => {
  const bodies: Promise<Buffer>[] = []
  const collector = createServer((request, response) => {
    bodies.push(buffer(request).finally(() => response.end()))
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  t.teardown(() => collector.close())
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  t.teardown(() => delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'])
  {
    await using _tracing = await startTracing('test')
    const trace = continueTrace('a step', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
    t.match(trace.traceparent, /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/)
    trace.end()
  }
  t.equal(bodies.length, 1)
  t.match((await bodies[0])?.toString('latin1'), /shutterfleet-test[^]*a step/)
})
