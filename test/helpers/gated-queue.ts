import { AppError } from '#shared/errors/app-error.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'

/**
 * A queue for one of several workers in a process, which can suspend or cut off that worker as if its process were stopped
 * or killed. Storage bypasses the gate. Dispose cuts.
 */
export type GatedQueue = Queue & {
  /** Holds incoming and outgoing messages, as in a stopped process; pulls are repeated later. */
  readonly freeze: () => void
  /** Releases held messages. */
  readonly thaw: () => void
  /** Drops all messages permanently, as at the end of a process. Idempotent. */
  readonly cut: () => void
  /** Resolves once the gate is open; rejects once it is cut. */
  readonly open: () => Promise<void>
  /** Whether the gate is neither frozen nor cut. */
  readonly isOpen: () => boolean
  /** Aborts when the gate is cut. */
  readonly gone: AbortSignal
}

const cutError = () => new AppError('SERVICE_UNAVAILABLE', { message: 'this worker has been killed by a test' })

/** Creates a gate in front of a shared queue. `onHeld` is called with the subject of each message that arrives while it is frozen. */
export const gateQueue = (queue: Queue, onHeld: (subject: string) => void): GatedQueue => {
  const gone = new AbortController()
  const subscriptions = new Set<Disposable>()
  let held: (() => void)[] = []
  let thawed: PromiseWithResolvers<void> | undefined

  const pass = (act: () => void) => {
    if (gone.signal.aborted) return
    if (thawed) held.push(act)
    else act()
  }
  const thaw = () => {
    const frozen = thawed
    thawed = undefined
    frozen?.resolve()
    for (const act of held.splice(0)) pass(act)
  }
  const open = async () => {
    if (gone.signal.aborted) throw cutError()
    await thawed?.promise
    if (gone.signal.aborted) throw cutError()
  }
  const cut = () => {
    if (gone.signal.aborted) return
    gone.abort()
    held = []
    for (const subscription of subscriptions) subscription[Symbol.dispose]()
    thaw()
  }
  return {
    connection: queue.connection,
    newInbox: queue.newInbox,
    isConnected: queue.isConnected,
    publish: (subject, data, options) => {
      const isRequest = options?.reply !== undefined
      if (!thawed || !isRequest) pass(() => queue.publish(subject, data, options))
    },
    subscribe: (filter, onMessage) => {
      let isOver = false
      const forward = (message: Incoming) => {
        if (thawed) onHeld(message.subject)
        pass(() => (isOver ? undefined : onMessage(message)))
      }
      const subscription = queue.subscribe(filter, forward)
      subscriptions.add(subscription)
      return {
        [Symbol.dispose]: () => {
          isOver = true
          subscriptions.delete(subscription)
          subscription[Symbol.dispose]()
        },
      }
    },
    request: async (subject, data, timeoutMs) => {
      await open()
      return queue.request(subject, data, timeoutMs)
    },
    onReconnect: (call) => queue.onReconnect(() => pass(call)),
    freeze: () => {
      if (!gone.signal.aborted) thawed ??= Promise.withResolvers()
    },
    thaw,
    cut,
    open,
    isOpen: () => !thawed && !gone.signal.aborted,
    gone: gone.signal,
    [Symbol.asyncDispose]: async () => cut(),
  }
}
