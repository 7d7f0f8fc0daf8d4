import type { IncomingMessage } from 'node:http'
import { type Span, startTrace } from '#shared/telemetry/trace.ts'
import type { Answer } from './answer.ts'
import { keyOf } from './identification/identify.ts'

/**
 * Starts the span of a request. Continues a caller's trace, with its sampling decision, only with a well-formed key: requests
 * without one cost the sender nothing and could flood the trace receiver.
 */
export const startRequestSpan = (
  operation: string,
  { method = '', headers }: Pick<IncomingMessage, 'method' | 'headers'>,
): Span => {
  const given = keyOf(headers) === undefined ? undefined : headers['traceparent']
  return startTrace({
    name: `http ${operation}`,
    traceparent: Array.isArray(given) ? given[0] : given,
    kind: 'SERVER',
    attributes: { 'http.request.method': method },
  })
}

/** Ends a request's span. Only a 5xx is an error of the service (OpenTelemetry's conventions for HTTP servers). */
export const endRequestSpan = (span: Span, { status, code, headers }: Answer): void => {
  const screenshotId = headers?.['x-screenshot-id']
  span.end({
    error: status >= 500 ? (code ?? 'SERVER_ERROR') : undefined,
    attributes: {
      'http.response.status_code': status,
      ...(code !== undefined && { 'error.type': code }),
      ...(screenshotId !== undefined && { 'shutterfleet.capture.id': screenshotId }),
    },
  })
}
