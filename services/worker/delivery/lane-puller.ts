import { createHash } from 'node:crypto'
import { type Lane, laneOrder, lanes, type Pool } from '#shared/capture/lane.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import { type Delivery, pullStatus, requestPull, toDelivery } from '#shared/queue/pull.ts'
import { ackWaitSeconds, capturesStream, laneConsumerName } from '#shared/queue/topology.ts'

/** Names are spread over this many turns of `laneOrder`, which repeats itself after them. */
const turns = 8

/**
 * The turn with which a worker begins to look through the lanes, as `laneOrder` wants it: drawn from its name, so that of
 * eight workers which take a single capture one begins at each lower lane.
 */
export const laneTurnOf = (pod: string): number => createHash('sha256').update(pod).digest().readUInt8() % turns

/** Long enough to cost nothing when idle, short enough to be the bound of the wait after a lost request. */
const longPullMs = 5000
const refillMs = 500
const noWaitBoundMs = 2000

type Waiter = {
  readonly give: (delivery: Delivery | undefined) => void
  readonly prefers: (delivery: Delivery) => boolean
}

const prefersNone = () => false

/**
 * Takes captures for the slots of one worker from the consumers of its pool's lanes, by raw pull requests: first what
 * waits now, lane by lane, then one long request on each lane. The client library's own pulls cannot wait less than a
 * second for an empty lane.
 */
export class LanePuller implements Disposable {
  readonly #queue: Queue
  readonly #pool: Pool
  readonly #inbox: string
  readonly #waiters = new Set<Waiter>()
  /** Per lane, when each open long request is given up on. */
  readonly #open = new Map<Lane, number[]>(lanes.map((lane) => [lane, []]))
  /** What ends the wait for the answer to a request that does not wait. */
  readonly #unanswered = new Set<() => void>()
  readonly #stack = new DisposableStack()

  constructor(queue: Queue, pool: Pool) {
    this.#queue = queue
    this.#pool = pool
    this.#inbox = queue.newInbox()
    for (const lane of lanes) {
      this.#stack.use(queue.subscribe(this.#longInbox(lane), (message) => this.#onLong(lane, message)))
    }
    this.#stack.use(queue.whenBack(() => this.#forgetOpen()))
    this.#stack.adopt(
      setInterval(() => this.#refill(), refillMs),
      clearInterval,
    )
  }

  /**
   * Waits for a capture for a free slot, which looks through the lanes by `turn` (from 0); undefined once `signal` aborts. Of
   * several slots that wait, the first that `prefers` a capture takes it, else the one that has waited longest. What arrives
   * beyond the waiting slots is handed back at once.
   */
  async take(
    turn: number,
    signal: AbortSignal,
    prefers: Waiter['prefers'] = prefersNone,
  ): Promise<Delivery | undefined> {
    // Nothing waits on a lane while a long request is open there: it would have been answered.
    const unknown = laneOrder(turn).filter((lane) => this.#alive(lane).length === 0)
    // The last needs no look of its own: where nothing waits on the others, the long request takes what waits there.
    for (const lane of unknown.slice(0, -1)) {
      if (signal.aborted) return undefined
      const delivery = await this.#takeNow(lane)
      if (delivery) return delivery
    }
    return signal.aborted ? undefined : this.#takeNext(signal, prefers)
  }

  [Symbol.dispose](): void {
    for (const giveUp of this.#unanswered) giveUp()
    this.#stack.dispose()
  }

  async #takeNow(lane: Lane): Promise<Delivery | undefined> {
    const inbox = this.#queue.newInbox()
    const { promise, resolve } = Promise.withResolvers<Delivery | undefined>()
    let isLate = false
    const forget = () => {
      clearTimeout(timer)
      subscription[Symbol.dispose]()
      this.#unanswered.delete(giveUp)
    }
    const giveUp = () => {
      forget()
      resolve(undefined)
    }
    const subscription = this.#queue.subscribe(inbox, (message) => {
      forget()
      const delivery = this.#deliveryOf(message)
      if (isLate && delivery) this.#passOn(delivery)
      else resolve(delivery)
    })
    let timer = setTimeout(() => {
      isLate = true
      resolve(undefined)
      // Without a subscription, what is delivered now would stay with this worker until its ack wait is over.
      timer = setTimeout(forget, ackWaitSeconds * 1000)
    }, noWaitBoundMs)
    this.#unanswered.add(giveUp)
    this.#request(lane, inbox, true)
    return promise
  }

  async #takeNext(signal: AbortSignal, prefers: Waiter['prefers']): Promise<Delivery | undefined> {
    const { promise, resolve } = Promise.withResolvers<Delivery | undefined>()
    const give = (delivery: Delivery | undefined) => {
      this.#waiters.delete(waiter)
      resolve(delivery)
    }
    const waiter: Waiter = { give, prefers }
    const stop = () => give(undefined)
    signal.addEventListener('abort', stop)
    this.#waiters.add(waiter)
    this.#refill()
    const delivery = await promise
    signal.removeEventListener('abort', stop)
    return delivery
  }

  #request(lane: Lane, inbox: string, noWait: boolean) {
    const of = { stream: capturesStream.name, consumer: laneConsumerName(this.#pool, lane), inbox }
    requestPull(this.#queue, of, { batch: 1, expiresMs: longPullMs, noWait })
  }

  /** The open long requests of a lane that are not given up on. */
  #alive(lane: Lane): number[] {
    const now = performance.now()
    return (this.#open.get(lane) ?? []).filter((until) => until > now)
  }

  /** Keeps one open long request on each lane for each waiting slot. */
  #refill() {
    for (const lane of lanes) {
      const alive = this.#alive(lane)
      while (alive.length < this.#waiters.size) {
        alive.push(performance.now() + longPullMs + refillMs)
        this.#request(lane, this.#longInbox(lane), false)
      }
      this.#open.set(lane, alive)
    }
  }

  #forgetOpen() {
    for (const lane of lanes) this.#open.set(lane, [])
    this.#refill()
  }

  #longInbox(lane: Lane): string {
    return `${this.#inbox}.${lane}`
  }

  #deliveryOf(message: Incoming): Delivery | undefined {
    return message.statusCode === 0 ? toDelivery(this.#queue, message) : undefined
  }

  #passOn(delivery: Delivery) {
    const [first] = this.#waiters
    const waiter = [...this.#waiters].find(({ prefers }) => prefers(delivery)) ?? first
    if (waiter) waiter.give(delivery)
    else delivery.nak()
  }

  #onLong(lane: Lane, message: Incoming) {
    if (message.statusCode === pullStatus.idleHeartbeat) return
    const delivery = this.#deliveryOf(message)
    this.#open.get(lane)?.shift()
    if (delivery) this.#passOn(delivery)
    else if (message.statusCode === pullStatus.expired) this.#refill()
    // The timer retries after any other status: a consumer that does not exist yet is found soon, and never in a hot loop.
  }
}
