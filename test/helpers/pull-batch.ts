import type { Queue } from '#shared/queue/connection.ts'
import { type Delivery, type PullRequest, requestPull, toDelivery } from '#shared/queue/pull.ts'

/**
 * Pulls up to `batch` messages: all that wait now, else the first that arrives within `expiresMs`.
 * Never throws, and waits at most `expiresMs` plus one second; returns an empty list if no message arrived.
 */
export const pullBatch = async (
  queue: Queue,
  from: { stream: string; consumer: string },
  pull: { batch: number; expiresMs: number; signal: AbortSignal },
): Promise<Delivery[]> => {
  const waitingNow = await pullFullBatch(queue, from, { ...pull, noWait: true })
  if (waitingNow.length > 0 || pull.signal.aborted) return waitingNow
  return pullFullBatch(queue, from, { ...pull, batch: 1 })
}

/** Pulls `batch` messages, fewer if no more arrive within `expiresMs`, with the bounds of `pullBatch`. */
export const pullFullBatch = async (
  queue: Queue,
  from: { stream: string; consumer: string },
  { signal, ...request }: PullRequest & { signal: AbortSignal },
): Promise<Delivery[]> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const deliveries: Delivery[] = []
  const inbox = queue.newInbox()
  using _subscription = queue.subscribe(inbox, (message) => {
    if (message.statusCode === 100) return
    if (message.statusCode !== 0) return resolve()
    deliveries.push(toDelivery(queue, message))
    if (deliveries.length >= request.batch) resolve()
  })
  const stop = () => resolve()
  const timer = setTimeout(stop, request.expiresMs + 1000)
  signal.addEventListener('abort', stop)
  requestPull(queue, { ...from, inbox }, request)
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', stop)
  return deliveries
}
