import {
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api'

/** Must not contain addresses, headers or other input of a caller: trace backends store them. */
type SpanAttributes = Readonly<Record<string, string | number>>

/** The start of a span. `atMs`, in milliseconds since 1970, is for spans that are recorded afterwards. */
type SpanStart = {
  readonly name: string
  /** That of the parent. */
  readonly traceparent: string | null | undefined
  readonly kind?: keyof typeof SpanKind
  readonly attributes?: SpanAttributes
  readonly atMs?: number
}

/** How a span ended; `error` is the code of its failure. */
type SpanEnd = {
  readonly error?: string | undefined
  readonly attributes?: SpanAttributes
  readonly atMs?: number
}

/** A step of a trace. */
export type Span = {
  /** W3C `traceparent` for child spans; undefined if the trace is not recorded. */
  readonly traceparent: string | undefined
  readonly end: (how?: SpanEnd) => void
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** W3C Trace Context, §3.2: of later versions only the known parts are used. */
const readContext = (traceparent: string | null | undefined): SpanContext | undefined => {
  const [, version, traceId = '', spanId = '', flags = '00', rest] = (traceparent && form.exec(traceparent)) || []
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(context) ? context : undefined
}

const createSpan = ({ name, kind, attributes, atMs }: SpanStart, parent: SpanContext | undefined): Span => {
  const from = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
  const options = { ...(kind && { kind: SpanKind[kind] }), ...(attributes && { attributes }) }
  const span = trace
    .getTracer('shutterfleet')
    .startSpan(name, { ...options, ...(atMs !== undefined && { startTime: atMs }) }, from)
  const { traceId, spanId, traceFlags } = span.spanContext()
  const isTraced = parent !== undefined || (traceFlags & TraceFlags.SAMPLED) !== 0
  return {
    traceparent: isTraced ? `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}` : undefined,
    end: ({ error, attributes: more, atMs: endMs } = {}) => {
      if (more) span.setAttributes(more)
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
      span.end(endMs)
    },
  }
}

/**
 * Continues the trace of a caller's `traceparent`; if that is absent or malformed, begins a trace if the sampler
 * selects it. Without an SDK (see `startTracing`) nothing is recorded, and the caller's context is passed on unchanged.
 */
export const startTrace = (start: SpanStart): Span => createSpan(start, readContext(start.traceparent))

/** Adds a step to a trace; does nothing without a valid `traceparent`. */
export const startSpan = (start: SpanStart): Span => {
  const parent = readContext(start.traceparent)
  return parent ? createSpan(start, parent) : { traceparent: undefined, end: () => {} }
}

/** The trace's id, for log lines. */
export const readTraceId = (traceparent: string | null | undefined): string | undefined =>
  readContext(traceparent)?.traceId

/** The trace's id if the trace is sampled, for exemplars: another one leads to no trace. */
export const readSampledTraceId = (traceparent: string | null | undefined): string | undefined => {
  const { traceId, traceFlags = TraceFlags.NONE } = readContext(traceparent) ?? {}
  return traceFlags & TraceFlags.SAMPLED ? traceId : undefined
}
