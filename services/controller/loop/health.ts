import type { Health } from '#shared/telemetry/probe-server.ts'

/** Readiness of one pool, and its part of the probe's detail. */
export type LoopStatus = {
  readonly ready: boolean
  readonly detail: Readonly<Record<string, string | number | boolean>>
}

/** Health of a controller, which is ready while all its pools are and NATS is connected; `statuses` are undefined before the first. */
export const summarizeHealth = (
  statuses: readonly (LoopStatus | undefined)[],
  { live, connected }: { readonly live: boolean; readonly connected: boolean },
): Health => {
  const detail = Object.assign({}, ...statuses.map((status) => status?.detail), { connected })
  return {
    live,
    ready: connected && statuses.every((status) => status?.ready === true),
    detail: Object.fromEntries(Object.entries(detail).map(([key, value]) => [key, String(value)])),
  }
}
