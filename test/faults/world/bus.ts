import type { Clock } from '#controller/kube/clock.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import type { SimulatedProcess } from '#test/helpers/simulated-process.ts'

/** Returns JetStream's response to a request as an object; undefined: the request times out. */
export type Answer = (subject: string) => object | undefined

/** NATS without storage: delivers to the subscribers 1 ms later. */
export type Bus = {
  readonly publish: (subject: string, data: Uint8Array) => void
  readonly subscribe: (filter: string, take: (message: Incoming) => void) => Disposable
  /** The connection of a process. Calls `published` before it publishes. */
  readonly connect: (process: SimulatedProcess, published?: (subject: string) => void) => Queue
}

const onWayMs = 1
const any = '*'
const rest = '>'

const matches = (filter: readonly string[], subject: readonly string[]): boolean => {
  for (const [index, word] of filter.entries()) {
    if (word === rest) return true
    if (word !== any && word !== subject[index]) return false
  }
  return filter.length === subject.length
}

/** Creates a bus whose requests are handled by `answer`. */
export const createBus = (clock: Clock, answer: Answer): Bus => {
  const listeners = new Set<{ readonly filter: readonly string[]; readonly take: (message: Incoming) => void }>()
  let sending: Incoming[] | undefined

  const deliver = () => {
    const messages = sending ?? []
    sending = undefined
    for (const message of messages) {
      const words = message.subject.split('.')
      for (const { filter, take } of listeners) if (matches(filter, words)) take(message)
    }
  }
  const publish: Bus['publish'] = (subject, data) => {
    if (!sending) clock.after(onWayMs, deliver)
    sending ??= []
    sending.push({ subject, data, reply: undefined, traceparent: undefined, statusCode: 0 })
  }
  const subscribe: Bus['subscribe'] = (filter, take) => {
    const listener = { filter: filter.split('.'), take }
    listeners.add(listener)
    return { [Symbol.dispose]: () => void listeners.delete(listener) }
  }

  const connect: Bus['connect'] = (process, published = () => {}) => {
    const request = (subject: string): Promise<{ data: Uint8Array }> => {
      const { promise, resolve, reject } = Promise.withResolvers<{ data: Uint8Array }>()
      const back = () => {
        const found = answer(subject)
        process.deliver(() => {
          if (found) resolve({ data: Buffer.from(JSON.stringify(found)) })
          else reject(new Error('timeout'))
        })
      }
      clock.after(2 * onWayMs, back)
      return promise
    }
    return {
      // The part of a connection that JetStream's management uses.
      connection: { options: { inboxPrefix: '_INBOX' }, request } as unknown as Queue['connection'],
      publish: (subject, data) => {
        if (!process.isAlive()) return
        published(subject)
        publish(subject, data)
      },
      subscribe: (filter, take) => subscribe(filter, (message) => process.deliver(() => take(message))),
      request: () => Promise.reject(new Error('not supported by the simulated bus')),
      newInbox: () => '_INBOX.x',
      isConnected: () => true,
      onReconnect: () => ({ [Symbol.dispose]: () => {} }),
      [Symbol.asyncDispose]: async () => {},
    }
  }
  return { publish, subscribe, connect }
}
