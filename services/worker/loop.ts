import type { LanePuller } from './lane-puller.ts'
import type { Delivery } from '#shared/queue/pull.ts'
import { accountIdOfCapture, captureIdOf } from '#shared/queue/subjects.ts'
import type { WorkerLifecycle } from './lifecycle.ts'
import type { Host } from './host/steer-host.ts'
import { laneTurnOf } from './lane-turn.ts'
import { serveDelivery, type Served, type Worker } from './serve-delivery.ts'
import type { ServiceTime } from './service-time.ts'
import type { Slot } from './slot.ts'

/** Everything that a running worker is made of. */
export type Running = Worker & {
  readonly puller: LanePuller
  readonly lifecycle: WorkerLifecycle
  readonly slots: readonly Slot[]
  readonly service: ServiceTime
}

/** How a slot comes to its next capture. */
export type Turn = {
  /** The number by which it looks through the lanes this time. */
  readonly laneTurn: () => number
  /** A warm host; undefined where `over` aborts before there is one. */
  readonly host: () => Promise<Host | undefined>
  /** Ends the wait for a capture; one that runs is finished. */
  readonly over: AbortSignal
  /** Runs when a capture has left its browser, while the worker still counts it as running. */
  readonly served: (tookMs: number) => void
}

/**
 * Waits for a capture, takes it, and serves it until its browser is free; it counts as running until `ended`. Undefined where
 * it took none; it may then be called again.
 */
export const takeTurn = async (
  running: Running,
  { laneTurn, host, over, served }: Turn,
): Promise<Served | undefined> => {
  const { lifecycle, puller } = running
  await lifecycle.mayPull(over)
  if (over.aborted) return undefined
  const warm = await host()
  if (!warm || over.aborted) return undefined
  lifecycle.warm()
  const pulling = AbortSignal.any([lifecycle.pulling(), warm.gone, over])
  const isOfSameAccount = ({ subject }: Delivery) => accountIdOfCapture(subject) === warm.accountId()
  const delivery = await puller.take(laneTurn(), pulling, isOfSameAccount)
  if (!delivery) return undefined
  if (pulling.aborted) {
    delivery.nak()
    return undefined
  }
  const serving = lifecycle.serve(captureIdOf(delivery.subject))
  const began = performance.now()
  const { ended } = await serveDelivery(running, warm, delivery)
  served(performance.now() - began)
  return { ended: ended.then(() => serving[Symbol.dispose]()) }
}

/**
 * Serves captures in every slot until `stop` aborts; what runs then is finished first, within its own budget. The lanes'
 * turns go round over all slots together, from where the worker's name begins: each lane has its share with any number of
 * slots and workers. While a capture is stored and reported its slot takes the next, and no third before that has ended.
 */
export const serveUntil = async (running: Running, stop: AbortSignal): Promise<void> => {
  let nextTurn = laneTurnOf(running.pod)
  const laneTurn = () => nextTurn++
  const serveIn = async (slot: Slot) => {
    const turn = { laneTurn, host: () => slot.host(stop), over: stop, served: running.service.add }
    let ending = Promise.resolve()
    while (!stop.aborted) {
      const next = await takeTurn(running, turn)
      if (!next) continue
      await ending
      ending = next.ended
    }
    await ending
  }
  await Promise.all(running.slots.map(serveIn))
}
