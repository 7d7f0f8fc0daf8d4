import { type Pool, pools } from '#shared/capture/lane.ts'
import type { Sql } from '#shared/db/connection.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import { signedCodec } from '#shared/queue/messages.ts'
import { parseCaptureId, signFilter } from '#shared/queue/subjects.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import type { Events } from '#gateway/telemetry/events.ts'

/** Longer than any attempt takes; a worker whose address has expired requests another. */
const lifetimeSeconds = 600
/** Requests served at a time; the rest get no response, and workers repeat them. */
const concurrentMax = 16

type Dependencies = {
  readonly queue: Pick<Queue, 'subscribe' | 'publish'>
  readonly database: Sql
  readonly objects: Pick<ObjectStore, 'signPut'>
  readonly events: Pick<Events, 'notSigned'>
}

const findOpen = `select iso_time(created_at) as "createdAt" from capture
  where id = $1 and pool = $2 and status in ('pending', 'processing') and part = 'open' and follows is null`

/**
 * Signs new addresses for images on request of workers, whose first one the store refused or which was used up; only for
 * open captures of the pool in whose account the request was made. The key is a new one of the capture, so that it is
 * deleted with it. Until disposed.
 */
export const signImages = ({ queue, database, objects, events }: Dependencies): Disposable => {
  let running = 0
  const sign = async (capture: { readonly pool: Pool; readonly id: string }) => {
    const [open] = await database.query<{ createdAt: string }>(findOpen, [capture.id, capture.pool])
    if (!open) return {}
    const key = newObjectKey(capture.id, new Date(open.createdAt))
    return { put: { key, url: await objects.signPut(key, lifetimeSeconds) } }
  }
  const respond = async (pool: Pool, { subject, reply }: Incoming) => {
    if (reply === undefined || running >= concurrentMax) return
    const id = parseCaptureId(subject)
    running += 1
    try {
      queue.publish(reply, signedCodec.encode(await sign({ pool, id })))
    } catch (error) {
      events.notSigned(id, error)
    } finally {
      running -= 1
    }
  }
  const subscriptions = new DisposableStack()
  for (const pool of pools) {
    subscriptions.use(queue.subscribe(signFilter(pool), (request) => void respond(pool, request), 'gateway'))
  }
  return subscriptions
}
