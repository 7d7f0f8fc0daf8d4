import type { IncomingMessage } from 'node:http'
import { type Span, startTrace } from '#shared/telemetry/trace.ts'
import type { Answer } from './answer.ts'
import { keyOf } from './identification/identify.ts'

/**
 * Begins the span of a request. A caller's trace is continued, and sampled as they want, only with a key of the right form:
 * what comes without one costs nothing, and could fill the receiver.
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

/** Ends a request's span. Only a fault of ours is an error of the service (OpenTelemetry's conventions for HTTP servers). */
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
