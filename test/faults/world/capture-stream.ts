import { type Lane, lanes, type Pool } from '#shared/capture/lane.ts'
import type { Depth } from '#controller/decide/pool.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { ackWaitSeconds } from '#shared/queue/topology.ts'

/** A delivered capture. */
export type StreamDelivery = {
  readonly id: string
  readonly lane: Lane
  /** Removes the capture from the stream. */
  readonly ack: () => void
  /** Makes the capture available for immediate redelivery. */
  readonly nak: () => void
  /** Restarts the ack wait. */
  readonly working: () => void
}

const onWayMs = 1

type Held = { readonly id: string; readonly pool: Pool; readonly lane: Lane; timer: Disposable | undefined }
type Taker = (delivery: StreamDelivery) => void

/**
 * Captures that wait for a worker, delivered as by JetStream's work queue: to one worker, redelivered after the ack wait. Those of
 * the most urgent lane first, without the turns of lower ones.
 */
export class CaptureStream {
  readonly #clock: Clock
  readonly #held = new Map<string, Held>()
  readonly #takers = new Map<Pool, Set<Taker>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(pool: Pool, id: string, lane: Lane): void {
    this.#held.set(id, { id, pool, lane, timer: undefined })
    this.#handOutSoon(pool)
  }

  /** Requests one capture of a pool. Disposing cancels the request. */
  pull(pool: Pool, take: Taker): Disposable {
    const takers = this.#takers.get(pool) ?? new Set()
    this.#takers.set(pool, takers)
    takers.add(take)
    this.#handOutSoon(pool)
    return { [Symbol.dispose]: () => void takers.delete(take) }
  }

  depth(pool: Pool): Depth {
    const ofPool = [...this.#held.values()].filter((held) => held.pool === pool)
    const inFlight = ofPool.filter(({ timer }) => timer).length
    return { waiting: ofPool.length - inFlight, inFlight }
  }

  /** Removes a capture from the stream. */
  purge(id: string): void {
    this.#held.get(id)?.timer?.[Symbol.dispose]()
    this.#held.delete(id)
  }

  #handOutSoon(pool: Pool) {
    this.#clock.after(onWayMs, () => this.#handOut(pool))
  }

  #handOut(pool: Pool) {
    const takers = this.#takers.get(pool)
    const waiting = [...this.#held.values()].filter((held) => held.pool === pool && !held.timer)
    for (const held of lanes.flatMap((lane) => waiting.filter((each) => each.lane === lane))) {
      // A taker may have ended captures meanwhile.
      if (held.timer || !this.#held.has(held.id)) continue
      const [taker] = takers ?? []
      if (!taker) return
      takers?.delete(taker)
      this.#keep(held)
      taker(this.#deliveryOf(held))
    }
  }

  #keep(held: Held) {
    held.timer?.[Symbol.dispose]()
    held.timer = this.#clock.after(ackWaitSeconds * 1000, () => this.#giveBack(held))
  }

  #giveBack(held: Held) {
    held.timer?.[Symbol.dispose]()
    held.timer = undefined
    this.#handOutSoon(held.pool)
  }

  #deliveryOf(held: Held): StreamDelivery {
    return {
      id: held.id,
      lane: held.lane,
      ack: () => this.purge(held.id),
      nak: () => this.#giveBack(held),
      working: () => {
        if (held.timer) this.#keep(held)
      },
    }
  }
}
