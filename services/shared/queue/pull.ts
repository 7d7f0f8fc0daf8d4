import type { Incoming, Queue } from './connection.ts'

const nanoseconds = 1_000_000
/** `$JS.ACK` and what follows it where no domain and account are named. */
const shortReplyTokens = 9

/** Status codes of messages on a pull's inbox that bring no delivery: the request stands, or its time is over. */
export const pullStatus = { idleHeartbeat: 100, expired: 408 } as const

/** A delivered message that JetStream expects to be acknowledged. */
export type Delivery = {
  readonly subject: string
  readonly data: Uint8Array
  readonly traceparent: string | undefined
  /** When the message was stored, by the clock of NATS, in milliseconds since 1970. */
  readonly storedAtMs: number
  /** The message is done; JetStream forgets it. */
  readonly ack: () => void
  /** Somebody else may have it, at once or after `delayMs`. */
  readonly nak: (delayMs?: number) => void
  /** Keeps the message for another ack wait. */
  readonly working: () => void
}

/**
 * The reply subject of a delivery ends `….<stored at, in nanoseconds>.<pending>`; with a domain another token follows.
 * See ADR-15 of NATS, "JetStream Acknowledgement".
 */
const storedAtMsOf = (reply: string): number => {
  const tokens = reply.split('.')
  return Number(tokens.length > shortReplyTokens ? tokens[9] : tokens[7]) / nanoseconds
}

const text = (words: string) => Buffer.from(words)

/** Makes a delivery of a message that arrived on a pull's inbox. */
export const toDelivery = (queue: Queue, message: Incoming): Delivery => {
  const reply = message.reply ?? ''
  const respond = (words: string) => queue.publish(reply, text(words))
  return {
    subject: message.subject,
    data: message.data,
    traceparent: message.traceparent,
    storedAtMs: storedAtMsOf(reply),
    ack: () => respond('+ACK'),
    nak: (delayMs = 0) => respond(delayMs > 0 ? `-NAK {"delay": ${delayMs * nanoseconds}}` : '-NAK'),
    working: () => respond('+WPI'),
  }
}

/** What one pull request demands: at most `batch` messages within `expiresMs`, or only those that wait now. */
export type PullRequest = { readonly batch: number; readonly expiresMs: number; readonly noWait?: boolean }

/** Sends a raw pull request to a consumer; messages and JetStream's status answers arrive on `inbox`. */
export const requestPull = (
  queue: Queue,
  of: { stream: string; consumer: string; inbox: string },
  pull: PullRequest,
) => {
  const body = pull.noWait
    ? { batch: pull.batch, no_wait: true }
    : { batch: pull.batch, expires: pull.expiresMs * nanoseconds }
  queue.publish(`$JS.API.CONSUMER.MSG.NEXT.${of.stream}.${of.consumer}`, text(JSON.stringify(body)), {
    reply: of.inbox,
  })
}
