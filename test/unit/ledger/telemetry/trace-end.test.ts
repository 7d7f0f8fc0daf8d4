import { ROOT_CONTEXT, type Context, type SpanOptions, trace } from '@opentelemetry/api'
import t from 'tap'
import { traceEnd } from '#ledger/telemetry/trace-end.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const requestId = 'b7ad6b7169203331'
const capture = { id: 'a', pool: 'standard', traceparent: `00-${traceId}-${requestId}-01` }

type Recorded = {
  name: string
  parentId: string | undefined
  startMs: unknown
  endMs: unknown
  error: string | undefined
}

/** Replaces an SDK; the id of a span is its index of creation. */
const recordSpans = () => {
  const recorded: Recorded[] = []
  const startSpan = (name: string, options: SpanOptions = {}, from: Context = ROOT_CONTEXT) => {
    const parentId = trace.getSpanContext(from)?.spanId
    const span: Recorded = { name, parentId, startMs: options.startTime, endMs: undefined, error: undefined }
    const spanId = String(recorded.push(span)).padStart(16, '0')
    const real = trace.wrapSpanContext({ traceId, spanId, traceFlags: 1 })
    real.setStatus = ({ message }) => {
      span.error = message
      return real
    }
    real.end = (at) => void (span.endMs = at)
    return real
  }
  const startActiveSpan = (): never => {
    throw new Error('no span is active')
  }
  trace.disable()
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan }) })
  return recorded
}

t.teardown(() => trace.disable())

t.test('trace of an end: stages follow each other within their attempt, which ends with the upload', async (t) => {
  const recorded = recordSpans()
  const timings = { queue: 500, claim: 10, open: 20, navigate: 300, shoot: 50, store: 40, total: 430, commit: 5 }
  traceEnd(capture, { status: 'failed', code: 'TIMEOUT', message: 'secret', timings }, 10_000)
  const attemptId = '3'.padStart(16, '0')
  t.strictSame(
    recorded.map(({ name, parentId, startMs, endMs, error }) => [name, parentId, startMs, endMs, error]),
    [
      ['queue', requestId, 9055, 9555, undefined],
      ['claim', requestId, 9555, 9565, undefined],
      ['attempt', requestId, 9565, 9995, 'TIMEOUT'],
      ['open', attemptId, 9565, 9585, undefined],
      ['navigate', attemptId, 9585, 9885, undefined],
      ['shoot', attemptId, 9885, 9935, undefined],
      ['store', attemptId, 9955, 9995, undefined],
      ['result', requestId, 9995, 10_000, 'TIMEOUT'],
    ],
  )
})

t.test(
  "trace of an end: a capture without a worker's result has only a result span, an untraced one none",
  async (t) => {
    const recorded = recordSpans()
    const end = { status: 'failed', code: 'JOB_FAILED', message: 'lost' } as const
    traceEnd({ ...capture, traceparent: null }, end, 10_000)
    t.strictSame(recorded, [])
    traceEnd(capture, end, 10_000)
    t.match(recorded, [{ name: 'result', error: 'JOB_FAILED' }])
  },
)
