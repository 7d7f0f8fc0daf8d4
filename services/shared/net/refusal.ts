/** Header with which the egress filter marks an answer as its own refusal; never taken from a target. */
export const refusalHeader = 'x-shutterfleet-refusal'

/** Header by which a client of the egress filter names the capture that it connects for; only logged, never passed on. */
export const captureHeader = 'x-shutterfleet-capture'

/**
 * Why the egress filter made no connection: the target is not public or its port is not fetched from; its name did not
 * resolve; no address answered; the request is not one that it serves; or, not by the target's fault, the filter
 * itself has a fault, or no room for another connection.
 */
export const refusals = [
  'blocked',
  'dns_failed',
  'connection_failed',
  'bad_request',
  'unavailable',
  'overloaded',
] as const

/** One reason of a refusal, the value of its header. */
export type Refusal = (typeof refusals)[number]

/** A reason that the target is responsible for. */
export type TargetRefusal = Exclude<Refusal, 'unavailable' | 'overloaded'>

/** Reads the refusal header's value; `undefined` where the answer is not a refusal. */
export const parseRefusal = (value: string | undefined): Refusal | undefined =>
  refusals.find((refusal) => refusal === value)
