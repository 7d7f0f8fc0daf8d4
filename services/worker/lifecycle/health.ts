import type { Queue } from '#shared/queue/connection.ts'
import type { Health } from '#shared/telemetry/probe-server.ts'
import type { WorkerLifecycle } from './lifecycle.ts'

/** Kubernetes should restart a worker whose browsers have failed to start for this long, which the growing bounds of starts need. */
const coldMs = 900_000

/** The worker's probes: ready while it may take captures, busy or not; live unless every slot is without a browser for `coldMs`. */
export const healthOf = (of: {
  queue: Pick<Queue, 'isConnected'>
  lifecycle: Pick<WorkerLifecycle, 'state' | 'holds'>
  slots: readonly { readonly isWarm: () => boolean; readonly coldForMs: () => number }[]
}): Health => {
  const state = of.lifecycle.state()
  const holds = of.lifecycle.holds()
  const warm = of.slots.filter((slot) => slot.isWarm()).length
  return {
    live: of.slots.some((slot) => slot.coldForMs() < coldMs),
    ready: state === 'ready' && holds.size === 0 && warm > 0 && of.queue.isConnected(),
    detail: {
      state,
      ...Object.fromEntries(holds),
      warm: `${warm} of ${of.slots.length}`,
      nats: of.queue.isConnected() ? 'connected' : 'unreachable',
    },
  }
}
