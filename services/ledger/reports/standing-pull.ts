import type { Incoming, Queue } from '#shared/queue/connection.ts'
import { type Delivery, pullStatus, requestPull, toDelivery } from '#shared/queue/pull.ts'

/** Lifetime of a pull request; without a response within `graceMs` after it, the request is repeated. */
const expiresMs = 5000
const graceMs = 1000
/** Delay before the retry of a rejected request: its consumer is missing or is being deleted. */
const rejectedMs = 200

/** A consumer, its ack wait and its stream; at most `batch` messages are requested or not yet taken. */
type PullSource = {
  readonly stream: string
  readonly consumer: string
  readonly ackWaitMs: number
  readonly batch: number
}

/** Deliveries that are not acknowledged yet. */
const createInHand = () => {
  const all = new Set<Delivery>()
  return {
    add: (delivery: Delivery): Delivery => {
      all.add(delivery)
      const ack = () => {
        all.delete(delivery)
        delivery.ack()
      }
      const nak = (delayMs?: number) => {
        all.delete(delivery)
        delivery.nak(delayMs)
      }
      return { ...delivery, ack, nak }
    },
    renew: () => {
      for (const { working } of all) working()
    },
  }
}

/** A pull request that is renewed, so that messages arrive as they are stored. */
export type StandingPull = ReturnType<typeof openStandingPull>

/**
 * Starts to pull. A message is renewed until it is acknowledged, so that only those of a killed process are redelivered, however
 * slowly they are applied. Dispose negatively acknowledges messages that were not taken.
 */
export const openStandingPull = (queue: Queue, { stream, consumer, ackWaitMs, batch }: PullSource) => {
  const inHand = createInHand()
  const renewals = setInterval(inHand.renew, ackWaitMs / 3)
  const inbox = queue.newInbox()
  let arrived: Delivery[] = []
  let requested = 0
  let arrival = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined

  /** Requests a batch unless one is outstanding or messages wait to be taken. */
  const request = () => {
    if (requested > 0 || arrived.length > 0) return
    clearTimeout(timer)
    requested = batch
    timer = setTimeout(requestAnew, expiresMs + graceMs)
    requestPull(queue, { stream, consumer, inbox }, { batch, expiresMs })
  }
  const requestAnew = () => {
    requested = 0
    request()
  }
  const onMessage = (message: Incoming) => {
    if (message.statusCode === pullStatus.idleHeartbeat) return
    if (message.statusCode === pullStatus.expired) return requestAnew()
    if (message.statusCode !== 0) {
      clearTimeout(timer)
      timer = setTimeout(requestAnew, rejectedMs)
      return
    }
    requested = Math.max(0, requested - 1)
    arrived.push(inHand.add(toDelivery(queue, message)))
    arrival.resolve()
  }

  const subscription = queue.subscribe(inbox, onMessage)
  const back = queue.onReconnect(requestAnew)
  request()
  return {
    /** Takes all messages that have arrived, at least one; none once `signal` aborts. */
    take: async (signal: AbortSignal): Promise<Delivery[]> => {
      const stop = () => arrival.resolve()
      signal.addEventListener('abort', stop)
      if (arrived.length === 0 && !signal.aborted) await arrival.promise
      signal.removeEventListener('abort', stop)
      arrival = Promise.withResolvers()
      const taken = signal.aborted ? [] : arrived
      if (!signal.aborted) arrived = []
      request()
      return taken
    },
    [Symbol.dispose]: (): void => {
      clearInterval(renewals)
      clearTimeout(timer)
      back[Symbol.dispose]()
      subscription[Symbol.dispose]()
      for (const { nak } of arrived.splice(0)) nak()
    },
  }
}
