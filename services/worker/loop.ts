import { type Lane, lanes, reservedLanes } from '#shared/capture/lane.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { parseCaptureId, parseCaptureLane } from '#shared/queue/subjects.ts'
import type { LanePuller } from './delivery/lane-puller.ts'
import { LaneTurns, type SlotTurns } from './delivery/lane-turns.ts'
import { serveDelivery, type Served, type Worker } from './delivery/serve-delivery.ts'
import type { Slot } from './host/slot.ts'
import type { Host } from './host/steer-host.ts'
import type { ServiceTime } from '#shared/policy/service-time.ts'
import type { WorkerLifecycle } from './lifecycle/lifecycle.ts'

/** The parts of a running worker. */
export type Running = Worker & {
  readonly puller: Pick<LanePuller, 'take'>
  readonly lifecycle: WorkerLifecycle
  readonly slots: readonly Slot[]
  /** How many of the slots never serve a capture of lane `bulk`. */
  readonly reservedSlots: number
  readonly service: ServiceTime
}

/** How a slot gets its next capture. */
export type ServeOptions = {
  readonly turns: SlotTurns
  /** A warm host, with an account one that may serve it; undefined if `signal` aborts before one is warm. */
  readonly host: (accountId?: string) => Promise<Host | undefined>
  readonly slot: Pick<Slot, 'preference'>
  /** Ends the wait for a capture; a capture that runs is finished. */
  readonly signal: AbortSignal
  /** Called when a capture has left its browser, while the worker still counts it as running; `hasRun`: its attempt ended there. */
  readonly onServed: (lane: Lane, tookMs: number, hasRun: boolean) => void
}

/**
 * Waits for a capture, takes it, and serves it until its browser is free; the capture counts as running until `ended`.
 * Resolves to undefined if no capture was taken; may then be called again.
 */
export const serveNext = async (
  running: Running,
  { turns, host, slot, signal, onServed }: ServeOptions,
): Promise<Served | undefined> => {
  const { lifecycle, puller } = running
  await lifecycle.mayPull(signal)
  if (signal.aborted) return undefined
  const warm = await host()
  if (!warm || signal.aborted) return undefined
  lifecycle.warm()
  const pulling = AbortSignal.any([lifecycle.pulling(), warm.gone, signal])
  const delivery = await puller.take(turns.next(), pulling, slot.preference)
  if (!delivery) return undefined
  if (pulling.aborted) {
    delivery.nak()
    return undefined
  }
  const lane = parseCaptureLane(delivery.subject)
  turns.served(lane)
  const serving = lifecycle.serve(parseCaptureId(delivery.subject))
  const began = performance.now()
  const { hasRun, ended } = await serveDelivery(running, host, delivery)
  onServed(lane, performance.now() - began, hasRun)
  return { hasRun, ended: ended.then(() => serving[Symbol.dispose]()) }
}

/**
 * Serves captures in every slot until `stop` aborts; captures that run then are finished within their budgets. The slots
 * share the turns of lanes, so that each lane gets its share with any number of them; the first are the reserved ones. While a
 * capture is stored and reported its slot serves the next one, but does not begin a third.
 */
export const serveUntil = async (running: Running, stop: AbortSignal): Promise<void> => {
  const laneTurns = new LaneTurns(running.pod)
  const onServed: ServeOptions['onServed'] = (lane, tookMs, hasRun) => {
    if (hasRun) running.service.add(lane, tookMs)
  }
  const serveIn = async (slot: Slot, index: number) => {
    const host = (accountId?: string) => slot.host(stop, accountId)
    const turns = laneTurns.forSlot(index < running.reservedSlots ? reservedLanes : lanes)
    const options = { turns, host, slot, signal: stop, onServed }
    let ending = Promise.resolve()
    while (!stop.aborted) {
      const next = await serveNext(running, options)
      if (!next) continue
      await ending
      ending = next.ended
    }
    await ending
  }
  await Promise.all(running.slots.map(serveIn))
}

/** Bounds of a single-use worker. */
export type SingleUseBounds = {
  /** Longest wait for a capture. */
  readonly spareMs: number
  /** Longest wait until egress allows pulling, and again until a browser has started. */
  readonly warmMs: number
}

/** A signal that aborts after `afterMs`, unless it is disposed before. */
const startTimeout = (afterMs: number): Disposable & { readonly signal: AbortSignal } => {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), afterMs)
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) }
}

/** Waits until pulling is allowed; throws the reason of the hold after `warmMs`, so that the process exits with an error. */
const waitUntilMayPull = async ({ lifecycle }: Running, signal: AbortSignal, warmMs: number): Promise<void> => {
  using timeout = startTimeout(warmMs)
  await lifecycle.mayPull(AbortSignal.any([signal, timeout.signal]))
  const [reason] = lifecycle.holds().values()
  if (timeout.signal.aborted && reason !== undefined) throw new AppError('SERVER_ERROR', { message: reason })
}

const warmHost = async (slot: Slot, signal: AbortSignal, warmMs: number): Promise<Host | undefined> => {
  using timeout = startTimeout(warmMs)
  const host = await slot.host(AbortSignal.any([signal, timeout.signal]))
  if (!host && !signal.aborted)
    throw new AppError('SERVER_ERROR', { message: `no browser started within ${warmMs} ms` })
  return host
}

/**
 * Takes exactly one capture in the only slot and serves it. The worker is drained once the capture has ended, after
 * `spareMs` without a capture, or once `stop` aborts. Throws `SERVER_ERROR` if no browser starts, or pulling is not allowed,
 * within `warmMs`.
 */
export const serveOne = async (running: Running, stop: AbortSignal, bounds: SingleUseBounds): Promise<void> => {
  const [slot] = running.slots
  if (!slot) return
  using spare = startTimeout(bounds.spareMs)
  const signal = AbortSignal.any([stop, spare.signal])
  const options = {
    turns: new LaneTurns(running.pod).forSlot(),
    host: () => warmHost(slot, signal, bounds.warmMs),
    slot,
    signal,
    // Before the capture counts as ended, so that no heartbeat reports the worker as ready for another.
    onServed: running.lifecycle.drain,
  }
  let isServed = false
  while (!isServed && !signal.aborted) {
    await waitUntilMayPull(running, signal, bounds.warmMs)
    const taken = await serveNext(running, options)
    isServed = taken !== undefined
    await taken?.ended
  }
  running.lifecycle.drain()
}
