import type { Queue } from '#shared/queue/connection.ts'
import type { Health } from '#shared/telemetry/probe-server.ts'
import type { WorkerLifecycle } from './lifecycle.ts'

/** Kubernetes should restart a worker whose browsers have failed to start for this long, which the growing bounds of starts need. */
const coldMs = 900_000

/** The worker's probes: ready while it may take captures, busy or not; live unless every slot is without a browser for `coldMs`. */
export const workerHealth = (worker: {
  queue: Pick<Queue, 'isConnected'>
  lifecycle: Pick<WorkerLifecycle, 'state' | 'holds'>
  slots: readonly { readonly isWarm: () => boolean; readonly coldForMs: () => number }[]
}): Health => {
  const state = worker.lifecycle.state()
  const holds = worker.lifecycle.holds()
  const warm = worker.slots.filter((slot) => slot.isWarm()).length
  return {
    live: worker.slots.some((slot) => slot.coldForMs() < coldMs),
    ready: state === 'ready' && holds.size === 0 && warm > 0 && worker.queue.isConnected(),
    detail: {
      state,
      ...Object.fromEntries(holds),
      warm: `${warm} of ${worker.slots.length}`,
      nats: worker.queue.isConnected() ? 'connected' : 'unreachable',
    },
  }
}
