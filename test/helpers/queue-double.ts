import type { Queue } from '#shared/queue/connection.ts'

const nothing: Disposable = { [Symbol.dispose]: () => {} }

/** A connection to NATS with the given methods; it receives nothing, and fails where a test does not expect it to be used. */
export const createQueueDouble = (methods: Partial<Queue>): Queue => ({
  publish: () => {},
  subscribe: () => nothing,
  request: async (subject) => {
    throw new Error(`unexpected request: ${subject}`)
  },
  newInbox: () => '_INBOX.x',
  isConnected: () => true,
  onReconnect: () => nothing,
  get connection(): never {
    throw new Error('the connection of a double')
  },
  [Symbol.asyncDispose]: async () => {},
  ...methods,
})
