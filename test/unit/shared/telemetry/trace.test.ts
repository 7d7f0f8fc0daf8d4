import t from 'tap'
import { continueTrace } from '#shared/telemetry/trace.ts'

const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

t.test('goes on with the trace that it was given, as a step of its own', async (t) => {
  const trace = continueTrace('accept', given)
  t.equal(trace.traceId, '0af7651916cd43dd8448eb211c80319c')
  t.match(trace.traceparent, /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/)
  t.not(trace.traceparent, given)
})

t.test('begins a trace where there is none or it is malformed', async (t) => {
  const zeros = `00-${'0'.repeat(32)}-b7ad6b7169203331-01`
  for (const bad of [undefined, '', 'nonsense', zeros, `${given}\r\nx: y`]) {
    const trace = continueTrace('accept', bad)
    t.match(trace.traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    t.not(trace.traceId, '0'.repeat(32))
    trace.end('TIMEOUT')
  }
})
