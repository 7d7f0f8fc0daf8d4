import type { Incoming, Queue } from '#shared/queue/connection.ts'
import { type Delivery, requestPull, toDelivery } from '#shared/queue/pull.ts'

/** Time in which a request that was lost is made again. */
const expiresMs = 5000
const graceMs = 1000
/** A request that is refused met no consumer, or one that goes; it is made again after a moment. */
const refusedMs = 200
const idleHeartbeat = 100
const requestExpired = 408

/** Where messages are pulled from, and how many are here at most: asked for, or not taken yet. */
export type PullSource = { readonly stream: string; readonly consumer: string; readonly batch: number }

/** A request for messages that stands, so that they come as they are stored. */
export type StandingPull = Disposable & {
  /** Takes all that has come, at least one; none once `signal` aborts. */
  readonly take: (signal: AbortSignal) => Promise<Delivery[]>
}

/** Begins to pull. Dispose hands back what was not taken. */
export const openStandingPull = (queue: Queue, { stream, consumer, batch }: PullSource): StandingPull => {
  const inbox = queue.newInbox()
  let here: Delivery[] = []
  let asked = 0
  let came = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined

  /** Asks again where nothing is to come any more and nothing waits to be taken. */
  const ask = () => {
    if (asked > 0 || here.length > 0) return
    clearTimeout(timer)
    asked = batch
    timer = setTimeout(askAnew, expiresMs + graceMs)
    requestPull(queue, { stream, consumer, inbox }, { batch, expiresMs })
  }
  const askAnew = () => {
    asked = 0
    ask()
  }
  const onMessage = (message: Incoming) => {
    if (message.statusCode === idleHeartbeat) return
    if (message.statusCode === requestExpired) return askAnew()
    if (message.statusCode !== 0) {
      clearTimeout(timer)
      timer = setTimeout(askAnew, refusedMs)
      return
    }
    asked = Math.max(0, asked - 1)
    here.push(toDelivery(queue, message))
    came.resolve()
  }

  const subscription = queue.subscribe(inbox, onMessage)
  const back = queue.whenBack(askAnew)
  ask()
  return {
    take: async (signal) => {
      const stop = () => came.resolve()
      signal.addEventListener('abort', stop)
      if (here.length === 0 && !signal.aborted) await came.promise
      signal.removeEventListener('abort', stop)
      came = Promise.withResolvers()
      const taken = signal.aborted ? [] : here
      if (!signal.aborted) here = []
      ask()
      return taken
    },
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      back[Symbol.dispose]()
      subscription[Symbol.dispose]()
      for (const { nak } of here.splice(0)) nak()
    },
  }
}
