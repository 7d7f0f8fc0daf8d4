import { randomBytes } from 'node:crypto'

/** W3C trace context of one request: the `traceparent` that messages carry, and the trace's id for log lines. */
export type Trace = { readonly traceparent: string; readonly traceId: string }

const form = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/

/** Continues the trace of a `traceparent` header, or begins one where there is none or it is malformed. */
export const continueTrace = (traceparent: string | undefined): Trace => {
  const given = traceparent === undefined ? null : form.exec(traceparent)
  const traceId = given?.[1] ?? randomBytes(16).toString('hex')
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` }
}
