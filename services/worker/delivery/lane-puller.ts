import { type Lane, lanes, type Pool } from '#shared/capture/lane.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import { type Delivery, type PullRequest, pullStatus, requestPull, toDelivery } from '#shared/queue/pull.ts'
import { parseCaptureAccountId, parseCaptureLane } from '#shared/queue/subjects.ts'
import { ackWaitSeconds, capturesStream, laneConsumerName } from '#shared/queue/topology.ts'
import type { Preference } from '#worker/host/slot.ts'

/** Long enough to cost little while idle; also bounds the wait after a lost request. */
const longPullMs = 5000
const refillMs = 500
const noWaitBoundMs = 2000

/** Bounds of what a slot looks at for a capture of its account. */
const lookAhead = { captures: 32, bytes: 524_288 } as const
/** Most captures of a lane in a row that are taken without a look, after looks in vain. */
const unlookedMax = 8

type Waiter = {
  readonly give: (delivery: Delivery | undefined) => void
  readonly lanes: readonly Lane[]
  readonly preference: ReadPreference
}

/** The preference of a slot now; it changes while the slot waits. */
type ReadPreference = () => Preference | undefined

const isPreferred = (delivery: Delivery, preference: Preference | undefined): boolean =>
  parseCaptureAccountId(delivery.subject) === preference?.accountId

/**
 * Pulls captures for the slots of one worker from the consumers of its pool's lanes: first a `no_wait` request to each lane in
 * turn that is not known to be empty, except the last; then a long request on each lane for each slot that waits. A slot that may
 * pass captures of other accounts looks for one of its own among the next of the lane. Uses raw requests, since the client
 * library's pulls wait at least a second for an empty lane.
 */
export class LanePuller implements Disposable {
  readonly #queue: Queue
  readonly #pool: Pool
  readonly #inbox: string
  readonly #waiters = new Set<Waiter>()
  /** Per lane, when each open long request expires. */
  readonly #open = new Map<Lane, number[]>(lanes.map((lane) => [lane, []]))
  /** Per lane, how many of the last looks in a row were in vain, and how many captures are still taken without one. */
  readonly #looks = new Map(lanes.map((lane) => [lane, { inVain: 0, skips: 0 }]))
  /** Cancels each `no_wait` request that has no response yet. */
  readonly #unanswered = new Set<() => void>()
  readonly #stack = new DisposableStack()

  constructor(queue: Queue, pool: Pool) {
    this.#queue = queue
    this.#pool = pool
    this.#inbox = queue.newInbox()
    for (const lane of lanes) {
      this.#stack.use(queue.subscribe(this.#longInbox(lane), (message) => this.#onLong(lane, message)))
    }
    this.#stack.use(queue.onReconnect(() => this.#reopen()))
    this.#stack.adopt(
      setInterval(() => this.#refill(), refillMs),
      clearInterval,
    )
  }

  /**
   * Waits for a capture of one of the lanes for a free slot, pulling from them in this order; undefined once `signal` aborts. Of
   * several slots that wait for its lane, the first that prefers its account gets it, else the one that has waited longest. A
   * capture that arrives while no slot waits for its lane is nak'd.
   */
  async take(
    order: readonly Lane[],
    signal: AbortSignal,
    readPreference: ReadPreference = () => undefined,
  ): Promise<Delivery | undefined> {
    const first = await this.#takeFirst(order, signal, readPreference)
    const preference = readPreference()
    if (!first || !preference?.mayPass || isPreferred(first, preference)) return first
    return this.#exchange(first, preference)
  }

  [Symbol.dispose](): void {
    for (const cancel of this.#unanswered) cancel()
    this.#stack.dispose()
  }

  async #takeFirst(
    order: readonly Lane[],
    signal: AbortSignal,
    preference: ReadPreference,
  ): Promise<Delivery | undefined> {
    // A lane with an open long request is empty, or that request would have been answered.
    const unknown = order.filter((lane) => this.#alive(lane).length === 0)
    // The last lane needs no `no_wait` request: if the others are empty, the long request gets what waits there.
    for (const lane of unknown.slice(0, -1)) {
      if (signal.aborted) return undefined
      const [delivery] = await this.#takeNow(lane, { batch: 1 })
      if (delivery) return delivery
    }
    return signal.aborted ? undefined : this.#takeNext(order, signal, preference)
  }

  /**
   * Hands a capture back for the preferred account's next one in the lane, if there is one. What is handed back is delivered again
   * before the rest of the lane, in the order of the naks. One look in vain ends a run; after more of them in a row, as in a lane of
   * more accounts than it looks at, it looks more rarely.
   */
  async #exchange(first: Delivery, preference: Preference): Promise<Delivery> {
    const lane = parseCaptureLane(first.subject)
    const looks = this.#looks.get(lane) ?? { inVain: 0, skips: 0 }
    if (looks.skips > 0) {
      looks.skips -= 1
      return first
    }
    const bounds = { batch: lookAhead.captures, bytesMax: lookAhead.bytes }
    const seen = [first, ...(await this.#takeNow(lane, bounds))]
    const preferred = seen.find((delivery) => isPreferred(delivery, preference))
    const chosen = preferred ?? first
    looks.inVain = preferred ? 0 : Math.min(looks.inVain + (seen.length > 1 ? 1 : 0), unlookedMax + 1)
    looks.skips = Math.max(0, looks.inVain - 1)
    for (const delivery of seen) if (delivery !== chosen) delivery.nak()
    return chosen
  }

  /** The captures that a lane has now, within the bounds. */
  async #takeNow(lane: Lane, bounds: Pick<PullRequest, 'batch' | 'bytesMax'>): Promise<readonly Delivery[]> {
    const inbox = this.#queue.newInbox()
    const { promise, resolve } = Promise.withResolvers<readonly Delivery[]>()
    const taken: Delivery[] = []
    let [isLate, left] = [false, bounds.batch]
    const close = () => {
      clearTimeout(timer)
      subscription[Symbol.dispose]()
      this.#unanswered.delete(cancel)
    }
    const cancel = () => {
      close()
      resolve(taken)
    }
    const subscription = this.#queue.subscribe(inbox, (message) => {
      const delivery = this.#toDelivery(message)
      if (delivery && isLate) this.#passOn(delivery)
      else if (delivery) taken.push(delivery)
      left -= 1
      if (delivery && left > 0) return
      close()
      resolve(taken)
    })
    let timer = setTimeout(() => {
      isLate = true
      resolve(taken)
      // Without a subscription, a late delivery would be redelivered only after its ack wait.
      timer = setTimeout(close, ackWaitSeconds * 1000)
    }, noWaitBoundMs)
    this.#unanswered.add(cancel)
    this.#request(lane, inbox, { ...bounds, noWait: true })
    return promise
  }

  async #takeNext(
    order: readonly Lane[],
    signal: AbortSignal,
    preference: ReadPreference,
  ): Promise<Delivery | undefined> {
    const { promise, resolve } = Promise.withResolvers<Delivery | undefined>()
    const give = (delivery: Delivery | undefined) => {
      this.#waiters.delete(waiter)
      resolve(delivery)
    }
    const waiter: Waiter = { give, lanes: order, preference }
    const stop = () => give(undefined)
    signal.addEventListener('abort', stop)
    this.#waiters.add(waiter)
    this.#refill()
    const delivery = await promise
    signal.removeEventListener('abort', stop)
    return delivery
  }

  #request(lane: Lane, inbox: string, bounds: Omit<PullRequest, 'expiresMs'> = { batch: 1 }) {
    const source = { stream: capturesStream.name, consumer: laneConsumerName(this.#pool, lane), inbox }
    requestPull(this.#queue, source, { ...bounds, expiresMs: longPullMs })
  }

  /** The open long requests of a lane that have not expired. */
  #alive(lane: Lane): number[] {
    const now = performance.now()
    return (this.#open.get(lane) ?? []).filter((until) => until > now)
  }

  #waitersFor(lane: Lane): Waiter[] {
    return [...this.#waiters].filter((waiter) => waiter.lanes.includes(lane))
  }

  /** Keeps one open long request on each lane for each slot that waits for it. */
  #refill() {
    for (const lane of lanes) {
      const alive = this.#alive(lane)
      const waiting = this.#waitersFor(lane).length
      while (alive.length < waiting) {
        alive.push(performance.now() + longPullMs + refillMs)
        this.#request(lane, this.#longInbox(lane))
      }
      this.#open.set(lane, alive)
    }
  }

  #reopen() {
    for (const lane of lanes) this.#open.set(lane, [])
    this.#refill()
  }

  #longInbox(lane: Lane): string {
    return `${this.#inbox}.${lane}`
  }

  #toDelivery(message: Incoming): Delivery | undefined {
    return message.statusCode === 0 ? toDelivery(this.#queue, message) : undefined
  }

  #passOn(delivery: Delivery) {
    const waiting = this.#waitersFor(parseCaptureLane(delivery.subject))
    const waiter = waiting.find(({ preference }) => isPreferred(delivery, preference())) ?? waiting[0]
    if (waiter) waiter.give(delivery)
    else delivery.nak()
  }

  #onLong(lane: Lane, message: Incoming) {
    if (message.statusCode === pullStatus.idleHeartbeat) return
    const delivery = this.#toDelivery(message)
    this.#open.get(lane)?.shift()
    if (delivery) this.#passOn(delivery)
    else if (message.statusCode === pullStatus.expired) this.#refill()
    // After any other status, such as a missing consumer, the refill timer retries, so that there is no hot loop.
  }
}
