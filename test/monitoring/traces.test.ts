import { createServer } from 'node:http'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOtlpReceiver } from '#test/helpers/otlp-receiver.ts'
import { startPrometheus } from '#test/helpers/prometheus.ts'
import { startSystem } from '#test/helpers/system.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const callersId = 'b7ad6b7169203331'
const secret = 's3cret'
const spanNames = ['http create', 'publish', 'queue', 'claim', 'attempt', 'result', 'webhook']
const stageNames = ['open', 'navigate', 'prepare', 'settle', 'inspect', 'shoot', 'encode', 'store']

const site = await listening(createServer((_, response) => response.end('<h1>A site</h1>')))
const certificate = await makeCertificate(['localhost'])
const receiver = await startReceiver(certificate, () => 200)
for (const each of [site, certificate, receiver]) t.teardown(() => each[Symbol.asyncDispose]())
const args = ['--workers-max', '1', '--extra-ca', certificate.certPath]
const allowed = [site.port, receiver.port].flatMap((port) => ['--allow-target', `127.0.0.1:${port}`])

/** A capture with a secret in every field that can contain one. */
const parameters = {
  url: `http://user:${secret}@127.0.0.1:${site.port}/?token=${secret}`,
  headers: { 'X-Token': secret },
  webhook_url: `https://user:${secret}@127.0.0.1:${receiver.port}/in?token=${secret}`,
}

/** Histograms whose exemplars name the trace of a capture. */
const withExemplars = ['http_request_seconds', 'capture_queue_seconds', 'capture_processing_seconds']

t.test('traces: one trace contains all spans from the request to the webhook, and exemplars name it', async (t) => {
  await using otlp = await startOtlpReceiver()
  await using system = await startSystem([...args, ...allowed], {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_BSP_SCHEDULE_DELAY: '200' },
  })
  const response = await system.request('/v1/screenshots', {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent: `00-${traceId}-${callersId}-01` },
    body: JSON.stringify(parameters),
  })
  t.equal(response.status, 202)
  const { data } = (await response.json()) as { data: { id: string } }
  const ofTrace = () => otlp.spans.filter((span) => span.traceId === traceId)
  await eventually(() => ofTrace().length >= spanNames.length + stageNames.length, { withinMs: 60_000 })

  const spans = new Map(ofTrace().map((span) => [span.name, span]))
  t.strictSame([...spans.keys()].toSorted(), [...spanNames, ...stageNames].toSorted())
  const of = (name: string) => {
    const span = spans.get(name)
    if (!span) throw new Error(`no span ${name}`)
    return span
  }
  const [request, attempt, webhook] = [of('http create'), of('attempt'), of('webhook')]
  t.match(request, { service: 'shutterfleet-gateway', kind: 'SERVER', parentId: callersId })
  t.match(request.attributes, { 'http.response.status_code': '202', 'shutterfleet.capture.id': data.id })
  t.match(attempt, { service: 'shutterfleet-ledger' })
  t.match(webhook, { service: 'shutterfleet-webhooks', kind: 'CLIENT' })
  t.equal(receiver.received[0]?.headers['traceparent'], `00-${traceId}-${webhook.spanId}-01`)
  for (const name of spanNames.slice(1)) t.equal(of(name).parentId, request.spanId, name)
  const { timings = {} } = await system.record(data.id)
  for (const name of stageNames) {
    const { parentId, startMs, endMs } = of(name)
    t.equal(parentId, attempt.spanId, name)
    t.ok(startMs >= attempt.startMs && endMs <= attempt.endMs, `${name} is in its attempt`)
    t.equal(Math.round(endMs - startMs), timings[name], `${name} lasted as long as in the record`)
  }
  t.notMatch(JSON.stringify(otlp.spans), new RegExp(`${secret}|127\\.0\\.0\\.1`))

  const { services } = await system.readLocal()
  const targets = services.flatMap(({ metrics_url: url }) => (url ? [new URL(url).host] : []))
  await using prometheus = await startPrometheus(targets)
  for (const name of withExemplars) {
    const find = async () => (await prometheus.exemplars(`shutterfleet_${name}_bucket`)).map((each) => each['trace_id'])
    await eventually(async () => (await find()).includes(traceId), { what: `an exemplar of ${name}` })
  }
})

t.test('traces: with a hanging OTLP receiver captures complete, and the shutdown succeeds', async (t) => {
  await using otlp = await startOtlpReceiver({ hangs: true })
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
    OTEL_TRACES_SAMPLER: 'always_on',
    OTEL_BSP_SCHEDULE_DELAY: '1',
    OTEL_BSP_MAX_QUEUE_SIZE: '2',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
  }
  await using system = await startSystem(args, { env })
  for (let nth = 0; nth < 3; nth += 1) {
    const image = await system.post('/v1/screenshots/capture', { html: `<h1>${nth}</h1>` })
    t.equal(image.status, 200)
    await image.arrayBuffer()
  }
  t.equal(await system.stop(), 0)
})

t.test('traces: webhooks of an untraced capture have no traceparent header', async (t) => {
  await using system = await startSystem([...args, ...allowed])
  await system.create({ html: '<h1>Untraced</h1>', webhook_url: parameters.webhook_url })
  await eventually(() => receiver.received.length === 2, { what: 'its webhook' })
  t.notOk(receiver.received.at(-1)?.headers['traceparent'])
})
