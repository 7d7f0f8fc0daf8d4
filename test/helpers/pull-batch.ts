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
  const waitingNow = await collect(queue, from, { batch: pull.batch, expiresMs: pull.expiresMs, noWait: true }, pull)
  if (waitingNow.length > 0 || pull.signal.aborted) return waitingNow
  return collect(queue, from, { batch: 1, expiresMs: pull.expiresMs }, pull)
}

const collect = async (
  queue: Queue,
  from: { stream: string; consumer: string },
  request: PullRequest,
  { signal }: { signal: AbortSignal },
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
