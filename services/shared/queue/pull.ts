import type { Incoming, Queue } from './connection.ts'

const nanoseconds = 1_000_000
/** Tokens of a `$JS.ACK` reply subject without domain and account. */
const shortReplyTokens = 9

/** Status codes of messages on a pull's inbox that carry no delivery: the request is still open, or has expired. */
export const pullStatus = { idleHeartbeat: 100, expired: 408 } as const

/** A delivered message that JetStream expects to be acknowledged. */
export type Delivery = {
  readonly subject: string
  readonly data: Uint8Array
  readonly traceparent: string | undefined
  /** When the message was stored, by the clock of NATS, in milliseconds since 1970. */
  readonly storedAtMs: number
  /** Acknowledges the message: it is not redelivered. */
  readonly ack: () => void
  /** Requests redelivery, at once or after `delayMs`. */
  readonly nak: (delayMs?: number) => void
  /** Restarts the ack wait. */
  readonly working: () => void
}

/**
 * The reply subject of a delivery ends `….<stored at, in nanoseconds>.<pending>`; with a domain another token follows.
 * See ADR-15 of NATS, "JetStream Acknowledgement".
 */
const parseStoredAtMs = (reply: string): number => {
  const tokens = reply.split('.')
  return Number(tokens.length > shortReplyTokens ? tokens[9] : tokens[7]) / nanoseconds
}

const text = (words: string) => Buffer.from(words)

/** Converts a message that arrived on a pull's inbox. */
export const toDelivery = (queue: Queue, message: Incoming): Delivery => {
  const reply = message.reply ?? ''
  const respond = (words: string) => queue.publish(reply, text(words))
  return {
    subject: message.subject,
    data: message.data,
    traceparent: message.traceparent,
    storedAtMs: parseStoredAtMs(reply),
    ack: () => respond('+ACK'),
    nak: (delayMs = 0) => respond(delayMs > 0 ? `-NAK {"delay": ${delayMs * nanoseconds}}` : '-NAK'),
    working: () => respond('+WPI'),
  }
}

/**
 * A pull request: at most `batch` messages within `expiresMs`; with `noWait` only those available now, and with `bytesMax` only as many
 * as have that size together.
 */
export type PullRequest = {
  readonly batch: number
  readonly expiresMs: number
  readonly noWait?: boolean
  readonly bytesMax?: number
}

/** Sends a raw pull request to a consumer; deliveries and status messages arrive on `inbox`. */
export const requestPull = (
  queue: Queue,
  source: { stream: string; consumer: string; inbox: string },
  pull: PullRequest,
) => {
  const body = pull.noWait
    ? { batch: pull.batch, no_wait: true, max_bytes: pull.bytesMax }
    : { batch: pull.batch, expires: pull.expiresMs * nanoseconds }
  queue.publish(`$JS.API.CONSUMER.MSG.NEXT.${source.stream}.${source.consumer}`, text(JSON.stringify(body)), {
    reply: source.inbox,
  })
}
