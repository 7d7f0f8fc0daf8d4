import type { IncomingMessage } from 'node:http'
import { startTrace } from '#shared/telemetry/trace.ts'
import type { Answer } from '#gateway/http/answer.ts'
import { keyOf } from './identify.ts'

const attributesOf = ({ status, code, headers }: Answer) => {
  const screenshotId = headers?.['x-screenshot-id']
  return {
    'http.response.status_code': status,
    ...(code !== undefined && { 'error.type': code }),
    ...(screenshotId !== undefined && { 'shutterfleet.capture.id': screenshotId }),
  }
}

/** The span of a request. */
type RequestSpan = {
  /** See `Span`. */
  readonly traceparent: string | undefined
  /** Ends the span; returns the `traceparent` of the one that is recorded. */
  readonly end: (answer: Answer) => string | undefined
}

/**
 * Starts the span of a request. Continues a caller's trace, with its sampling decision, only with a well-formed key, and
 * records that only if the key is accepted: other requests cost the sender nothing and could flood the trace receiver.
 */
export const startRequestSpan = (
  operation: string,
  { method = '', headers }: Pick<IncomingMessage, 'method' | 'headers'>,
): RequestSpan => {
  const request = {
    name: `http ${operation}`,
    kind: 'SERVER',
    attributes: { 'http.request.method': method },
  } as const
  const header = keyOf(headers) === undefined ? undefined : headers['traceparent']
  const traceparent = Array.isArray(header) ? header[0] : header
  const atMs = Date.now()
  const begun = startTrace({ ...request, traceparent })
  return {
    traceparent: begun.traceparent,
    end: (answer) => {
      // A span that is never ended is never sent.
      const mayContinueTrace = traceparent === undefined || answer.caller !== undefined
      const span = mayContinueTrace ? begun : startTrace({ ...request, traceparent: undefined, atMs })
      // Only a 5xx is an error of the service (OpenTelemetry's conventions for HTTP servers).
      const error = answer.status >= 500 ? (answer.code ?? 'SERVER_ERROR') : undefined
      span.end({ error, attributes: attributesOf(answer) })
      return span.traceparent
    },
  }
}
