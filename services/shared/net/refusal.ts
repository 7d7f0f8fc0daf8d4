/** Header with which the egress filter marks a response as its own refusal; never passed through from a target. */
export const refusalHeader = 'x-shutterfleet-refusal'

/** Header by which a client of the egress filter names the capture that it connects for; only logged, never passed on. */
export const captureHeader = 'x-shutterfleet-capture'

/**
 * Why the egress filter made no connection: the target is not public or its port is blocked; the lists of targets of the
 * account or of the installation refuse it; its name did not resolve; no address accepted a connection; the filter does not serve such requests; or, independent of the target,
 * the filter failed, or has no room for another connection.
 */
export const refusals = [
  'blocked',
  'denied_by_account',
  'denied_by_installation',
  'dns_failed',
  'connection_failed',
  'bad_request',
  'unavailable',
  'overloaded',
] as const

/** Reason of a refusal, the value of its header. */
export type Refusal = (typeof refusals)[number]

/** A reason that the target is responsible for. */
export type TargetRefusal = Exclude<Refusal, 'unavailable' | 'overloaded'>

/** Parses the refusal header's value; `undefined` if the response is not a refusal. */
export const parseRefusal = (value: string | undefined): Refusal | undefined =>
  refusals.find((refusal) => refusal === value)
