import { AppError } from '#shared/errors/app-error.ts'
import type { Delivery } from '#shared/queue/pull.ts'
import { accountIdOfCapture, captureIdOf } from '#shared/queue/subjects.ts'
import { type LanePuller, laneTurnOf } from './delivery/lane-puller.ts'
import { serveDelivery, type Served, type Worker } from './delivery/serve-delivery.ts'
import type { Slot } from './host/slots.ts'
import type { Host } from './host/steer-host.ts'
import type { ServiceTime } from './lifecycle/heartbeat.ts'
import type { WorkerLifecycle } from './lifecycle/lifecycle.ts'

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

/** Bounds of a single-use worker. */
export type OneBounds = {
  /** Time from now in which a capture must come. */
  readonly spareMs: number
  /** Time in which egress must let captures be taken, and then again time in which a browser must start. */
  readonly warmMs: number
}

/** A signal that aborts after `afterMs`, unless it is disposed before. */
const alarm = (afterMs: number): Disposable & { readonly signal: AbortSignal } => {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), afterMs)
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) }
}

/** Waits until captures may be taken; throws the reason once that has taken `warmMs`: whoever started the worker sees it fail. */
const untilFree = async ({ lifecycle }: Running, over: AbortSignal, warmMs: number): Promise<void> => {
  using late = alarm(warmMs)
  await lifecycle.mayPull(AbortSignal.any([over, late.signal]))
  const [reason] = lifecycle.holds().values()
  if (late.signal.aborted && reason !== undefined) throw new AppError('SERVER_ERROR', { message: reason })
}

const warmHost = async (slot: Slot, over: AbortSignal, warmMs: number): Promise<Host | undefined> => {
  using cold = alarm(warmMs)
  const host = await slot.host(AbortSignal.any([over, cold.signal]))
  if (!host && !over.aborted) throw new AppError('SERVER_ERROR', { message: `no browser started within ${warmMs} ms` })
  return host
}

/**
 * Takes exactly one capture in the only slot, serves it, and is `drained` with its end; without one after
 * `spareMs`, or once `stop` aborts. Throws `SERVER_ERROR` where no browser starts.
 */
export const serveOne = async (running: Running, stop: AbortSignal, bounds: OneBounds): Promise<void> => {
  const [slot] = running.slots
  if (!slot) return
  using spare = alarm(bounds.spareMs)
  const over = AbortSignal.any([stop, spare.signal])
  const turn = {
    laneTurn: () => laneTurnOf(running.pod),
    host: () => warmHost(slot, over, bounds.warmMs),
    over,
    // Before the capture counts as ended: at no moment does the worker look as if it would take another.
    served: running.lifecycle.drain,
  }
  let isServed = false
  while (!isServed && !over.aborted) {
    await untilFree(running, over, bounds.warmMs)
    const taken = await takeTurn(running, turn)
    isServed = taken !== undefined
    await taken?.ended
  }
  running.lifecycle.drain()
}
