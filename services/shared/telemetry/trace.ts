import {
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api'

/** Never an address, a header or anything else that a caller wrote: receivers of traces keep them. */
type SpanAttributes = Readonly<Record<string, string | number>>

/** A span. `atMs`, in milliseconds since 1970, is for one that is recorded afterwards. */
type SpanStart = {
  readonly name: string
  /** That of the parent. */
  readonly traceparent: string | null | undefined
  readonly kind?: keyof typeof SpanKind
  readonly attributes?: SpanAttributes
  readonly atMs?: number
}

/** How a span ended; `error` is the word for its failure. */
type SpanEnd = {
  readonly error?: string | undefined
  readonly attributes?: SpanAttributes
  readonly atMs?: number
}

/** A step of a trace. */
export type Span = {
  /** W3C `traceparent` for what follows from this step; undefined where nobody traces it. */
  readonly traceparent: string | undefined
  readonly end: (how?: SpanEnd) => void
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** W3C Trace Context, §3.2: of later versions the parts that are known count. */
const readContext = (traceparent: string | null | undefined): SpanContext | undefined => {
  const [, version, traceId = '', spanId = '', flags = '00', rest] = (traceparent && form.exec(traceparent)) || []
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(context) ? context : undefined
}

const spanOf = ({ name, kind, attributes, atMs }: SpanStart, parent: SpanContext | undefined): Span => {
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
 * Continues the trace of a caller's `traceparent`, or begins one where there is none, or it is malformed, and the sampler
 * wants it. Without an SDK (see `startTracing`) nothing is recorded, and the caller's context goes on as it is.
 */
export const startTrace = (of: SpanStart): Span => spanOf(of, readContext(of.traceparent))

/** Adds a step to a trace; nothing where there is no trace. */
export const startSpan = (of: SpanStart): Span => {
  const parent = readContext(of.traceparent)
  return parent ? spanOf(of, parent) : { traceparent: undefined, end: () => {} }
}

/** The trace's id, for log lines. */
export const traceIdOf = (traceparent: string | undefined): string | undefined => readContext(traceparent)?.traceId
