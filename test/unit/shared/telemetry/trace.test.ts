import t from 'tap'
import { startSpan, startTrace, readSampledTraceId, readTraceId } from '#shared/telemetry/trace.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const rest = `${traceId}-b7ad6b7169203331-01`
const start = (traceparent: string | undefined) => startTrace({ name: 'accept', traceparent })

t.test("trace: forwards a caller's context unchanged while nothing is recorded", async (t) => {
  t.equal(start(`00-${rest}`).traceparent, `00-${rest}`)
  t.equal(startSpan({ name: 'step', traceparent: `00-${rest}` }).traceparent, `00-${rest}`)
  t.equal(readTraceId(`00-${rest}`), traceId)
})

t.test('trace: only the id of a sampled one is for exemplars', async (t) => {
  t.equal(readSampledTraceId(`00-${rest}`), traceId)
  for (const none of [`00-${rest.slice(0, -2)}00`, null, undefined, 'nonsense'])
    t.equal(readSampledTraceId(none), undefined)
})

t.test('trace: reads the known fields of a later version', async (t) => {
  for (const later of [`01-${rest}`, `01-${rest}-more`]) t.equal(start(later).traceparent, `00-${rest}`)
})

t.test('trace: is absent if the context is missing or malformed', async (t) => {
  const zeros = `00-${'0'.repeat(32)}-b7ad6b7169203331-01`
  for (const bad of [undefined, '', 'nonsense', zeros, `ff-${rest}`, `00-${rest}-more`, `00-${rest}\r\nx: y`]) {
    const span = start(bad)
    t.equal(span.traceparent, undefined)
    t.equal(startSpan({ name: 'step', traceparent: bad }).traceparent, undefined)
    span.end({ error: 'TIMEOUT' })
  }
})
