import { AppError } from '#shared/errors/app-error.ts'
import type { Host } from './host/steer-host.ts'
import { laneTurnOf } from './lane-turn.ts'
import { type Running, takeTurn } from './loop.ts'
import type { Slot } from './slot.ts'

/** Bounds of a single-use worker. */
export type OneBounds = {
  /** Time from now in which a capture must come. */
  readonly spareMs: number
  /** Time in which egress must let captures be taken, and then again time in which a browser must come up. */
  readonly warmMs: number
}

/** A signal that aborts after `afterMs`, unless it is disposed before. */
const alarm = (afterMs: number): Disposable & { readonly signal: AbortSignal } => {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), afterMs)
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) }
}

/** Throws what keeps a worker from its capture once that has gone on for `warmMs`: whoever started it sees it fail. */
const untilFree = async ({ lifecycle }: Running, over: AbortSignal, warmMs: number): Promise<void> => {
  using late = alarm(warmMs)
  await lifecycle.mayPull(AbortSignal.any([over, late.signal]))
  const [reason] = lifecycle.holds().values()
  if (late.signal.aborted && reason !== undefined) throw new AppError('SERVER_ERROR', { message: reason })
}

const warmHost = async (slot: Slot, over: AbortSignal, warmMs: number): Promise<Host | undefined> => {
  using cold = alarm(warmMs)
  const host = await slot.host(AbortSignal.any([over, cold.signal]))
  if (!host && !over.aborted) throw new AppError('SERVER_ERROR', { message: `no browser came up within ${warmMs} ms` })
  return host
}

/**
 * Takes exactly one capture in the only slot, serves it, and says `drained` with its end. Without one it says so after
 * `spareMs`, or once `stop` aborts. Throws `SERVER_ERROR` where no browser comes up.
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
