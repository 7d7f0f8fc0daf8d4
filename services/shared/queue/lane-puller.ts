import { type Lane, laneOrder, lanes, type Pool } from '#shared/capture/lane.ts'
import type { Incoming, Queue } from './connection.ts'
import { type Delivery, requestPull, toDelivery } from './pull.ts'
import { capturesStream, laneConsumerName } from './topology.ts'

/** Long enough to cost nothing when idle, short enough to be the bound of the wait after a lost request. */
const longPullMs = 5000
const refillMs = 500
const noWaitBoundMs = 2000
const requestExpired = 408

type Waiter = (delivery: Delivery | undefined) => void

/** Takes captures for the slots of one worker, most urgent lane first. */
export type LanePuller = Disposable & {
  /** Waits for a capture for free slot `slot`; undefined once `signal` aborts. What arrives beyond the waiting slots is handed back. */
  readonly take: (slot: number, signal: AbortSignal) => Promise<Delivery | undefined>
}

/**
 * Pulls from the consumers of a pool's lanes by raw requests: first what waits now, lane by lane, then one long request
 * on each lane. The client library's own pulls cannot wait less than a second for an empty lane.
 */
export const createLanePuller = (queue: Queue, pool: Pool): LanePuller => {
  const inbox = queue.newInbox()
  const waiters = new Set<Waiter>()
  const asked = new Map<string, (delivery: Delivery | undefined) => void>()
  /** Per lane, when each open long request is given up on. */
  const open = new Map<Lane, number[]>(lanes.map((lane) => [lane, []]))
  let turn = 0

  const requestFrom = (lane: Lane, reply: string, noWait: boolean) => {
    const of = { stream: capturesStream.name, consumer: laneConsumerName(pool, lane), inbox: reply }
    requestPull(queue, of, { batch: 1, expiresMs: longPullMs, noWait })
  }

  const refill = () => {
    const now = performance.now()
    for (const lane of lanes) {
      const alive = (open.get(lane) ?? []).filter((until) => until > now)
      while (alive.length < waiters.size) {
        alive.push(now + longPullMs + refillMs)
        requestFrom(lane, `${inbox}.long.${lane}`, false)
      }
      open.set(lane, alive)
    }
  }

  const offer = (delivery: Delivery) => {
    const [first] = waiters
    if (first) first(delivery)
    else delivery.nak()
  }

  const onLong = (lane: Lane, message: Incoming) => {
    if (message.statusCode === 100) return
    // Any other refusal keeps its place until it is given up on, so that a missing consumer is not asked in a hot loop.
    if (message.statusCode !== 0 && message.statusCode !== requestExpired) return
    open.get(lane)?.shift()
    if (message.statusCode === 0) offer(toDelivery(queue, message))
    else refill()
  }

  const onMessage = (message: Incoming) => {
    const [kind = '', name = ''] = message.subject.slice(inbox.length + 1).split('.')
    if (kind === 'long') return onLong(name as Lane, message)
    const delivery = message.statusCode === 0 ? toDelivery(queue, message) : undefined
    const answer = asked.get(message.subject)
    if (answer) answer(delivery)
    else delivery?.nak()
  }

  const takeNow = async (lane: Lane): Promise<Delivery | undefined> => {
    turn += 1
    const reply = `${inbox}.now.${turn}`
    const { promise, resolve } = Promise.withResolvers<Delivery | undefined>()
    asked.set(reply, resolve)
    const timer = setTimeout(resolve, noWaitBoundMs, undefined)
    requestFrom(lane, reply, true)
    const delivery = await promise
    clearTimeout(timer)
    asked.delete(reply)
    return delivery
  }

  const takeNext = async (signal: AbortSignal): Promise<Delivery | undefined> => {
    const { promise, resolve } = Promise.withResolvers<Delivery | undefined>()
    const waiter: Waiter = (delivery) => {
      waiters.delete(waiter)
      resolve(delivery)
    }
    const stop = () => waiter(undefined)
    signal.addEventListener('abort', stop)
    waiters.add(waiter)
    refill()
    const delivery = await promise
    signal.removeEventListener('abort', stop)
    return delivery
  }

  const subscription = queue.subscribe(`${inbox}.>`, onMessage)
  const timer = setInterval(refill, refillMs)
  const back = queue.whenBack(() => {
    for (const lane of lanes) open.set(lane, [])
    refill()
  })

  return {
    take: async (slot, signal) => {
      for (const lane of laneOrder(slot)) {
        if (signal.aborted) return undefined
        const delivery = await takeNow(lane)
        if (delivery) return delivery
      }
      return signal.aborted ? undefined : takeNext(signal)
    },
    [Symbol.dispose]: () => {
      clearInterval(timer)
      back[Symbol.dispose]()
      subscription[Symbol.dispose]()
    },
  }
}
