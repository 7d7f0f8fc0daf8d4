import type { LanePuller } from '#shared/queue/lane-puller.ts'
import { captureIdOf } from '#shared/queue/subjects.ts'
import type { Duty } from './duty.ts'
import { serveDelivery, type Worker } from './serve-delivery.ts'
import type { ServiceTime } from './service-time.ts'
import type { Slot } from './slot.ts'

/** Everything that a running worker is made of. */
export type Running = Worker & {
  readonly puller: LanePuller
  readonly duty: Duty
  readonly slots: readonly Slot[]
}

const slotLoop = async (
  running: Running,
  index: number,
  over: { stop: AbortSignal; service: ServiceTime },
): Promise<void> => {
  const { duty, puller } = running
  const slot = running.slots[index]
  for (;;) {
    await duty.mayPull()
    const host = await slot?.host(over.stop)
    if (!host || over.stop.aborted) return
    duty.warm()
    const pulling = AbortSignal.any([duty.pulling(), host.gone])
    const delivery = await puller.take(index, pulling)
    if (!delivery) continue
    if (pulling.aborted) {
      delivery.nak()
      continue
    }
    using _serving = duty.serve(captureIdOf(delivery.subject))
    const began = performance.now()
    await serveDelivery(running, host, delivery)
    over.service.add(performance.now() - began)
  }
}

/** Serves captures in every slot until `stop` aborts; what runs then is finished first, within its own budget. */
export const serveUntil = async (running: Running, stop: AbortSignal, service: ServiceTime): Promise<void> => {
  await Promise.all(running.slots.map((_slot, index) => slotLoop(running, index, { stop, service })))
}
