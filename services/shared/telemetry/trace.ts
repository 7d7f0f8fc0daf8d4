import { randomBytes } from 'node:crypto'
import { isSpanContextValid, ROOT_CONTEXT, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'

/** A step of one request's trace: the W3C `traceparent` that messages carry on, and the trace's id for log lines. */
export type Trace = {
  readonly traceparent: string
  readonly traceId: string
  /** Ends the step; with an error code where it failed. Calling it twice is harmless. */
  readonly end: (errorCode?: string) => void
}

const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

const parentContext = (traceparent: string | undefined) => {
  const [, traceId = '', spanId = '', flags = '00'] = (traceparent && form.exec(traceparent)) || []
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(parent) ? parent : undefined
}

/**
 * Continues the trace of a `traceparent` header under a new step `name`, or begins a trace where there is none or it is
 * malformed. Without a tracing SDK (see `startTracing`) nothing is recorded, and the trace's id still goes on.
 */
export const continueTrace = (name: string, traceparent: string | undefined): Trace => {
  const parent = parentContext(traceparent)
  const from = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
  const span = trace.getTracer('shutterfleet').startSpan(name, {}, from)
  const own = span.isRecording()
    ? span.spanContext()
    : {
        traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
        spanId: randomBytes(8).toString('hex'),
        traceFlags: parent?.traceFlags ?? TraceFlags.NONE,
      }
  const flags = own.traceFlags.toString(16).padStart(2, '0')
  return {
    traceId: own.traceId,
    traceparent: `00-${own.traceId}-${own.spanId}-${flags}`,
    end: (errorCode) => {
      if (errorCode) span.setStatus({ code: SpanStatusCode.ERROR, message: errorCode })
      span.end()
    },
  }
}
