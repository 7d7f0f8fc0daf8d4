import { trace } from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'
import t from 'tap'
import { startRequestSpan } from '#gateway/http/identification/request-span.ts'
import type { Answer } from '#gateway/http/answer.ts'
import { testCaller } from '#test/helpers/gateway-context.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const key = `Bearer sk_live_${'a'.repeat(40)}`
const start = (authorization?: string, name = 'create') =>
  startRequestSpan(name, { method: 'POST', headers: { traceparent, ...(authorization && { authorization }) } })

t.test("request span: continues the caller's trace only if the request has a well-formed key", async (t) => {
  t.match(start(key).traceparent, /^00-0af7651916cd43dd8448eb211c80319c-/)
  t.equal(start().traceparent, undefined)
  t.equal(start('Bearer guess').traceparent, undefined)
})

t.test("request span: a caller's sampling decision counts only once its key is accepted", async (t) => {
  const sent: { name: string; parent: string | undefined }[] = []
  process.env['OTEL_TRACES_SAMPLER'] = 'parentbased_always_off'
  const sdk = new NodeSDK({
    metricReaders: [],
    logRecordProcessors: [],
    spanProcessors: [
      {
        onStart: () => {},
        onEnd: ({ name, parentSpanContext }) => void sent.push({ name, parent: parentSpanContext?.spanId }),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  })
  sdk.start()
  t.teardown(async () => {
    await sdk.shutdown()
    trace.disable()
    delete process.env['OTEL_TRACES_SAMPLER']
  })
  const end = (name: string, answer: Answer) => start(key, name).end(answer)
  const refused = { status: 401, code: 'INVALID_API_KEY' } as const
  t.equal(end('refused', refused), undefined)
  t.equal(end('overloaded', { status: 429, code: 'RATE_LIMIT_EXCEEDED' }), undefined)
  t.match(end('accepted', { status: 202, caller: testCaller }), /^00-0af7651916cd43dd8448eb211c80319c-/)
  t.strictSame(sent, [{ name: 'http accepted', parent: 'b7ad6b7169203331' }])
})
