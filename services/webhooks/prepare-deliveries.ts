import type { Database } from '#shared/db/connection.ts'
import { findCaptures } from '#shared/db/find-capture.ts'
import { handBackDeliveries } from './db/record-attempts.ts'
import { dropDeliveries, storeBodies, type TakenDelivery } from './db/take-deliveries.ts'
import { open, type OpeningKey } from '#shared/queue/seal.ts'
import type { Events } from './events.ts'
import { renderBody } from './render-body.ts'

/** Dependencies of `prepareDeliveries`. */
export type PrepareDeps = {
  readonly database: Pick<Database, 'query'>
  readonly openingKeys: readonly OpeningKey[]
  readonly publicUrl: string
  readonly events: Pick<Events, 'dropped' | 'unsignable'>
}

/** A delivery that is ready to be sent. `secrets` is empty if it is not signed. */
export type Prepared = {
  readonly delivery: TakenDelivery
  readonly body: string
  readonly secrets: readonly string[]
}

/** Wait after a secret could not be decrypted: the operator has to correct the keys. */
const unsignableMs = 60_000

const withBodies = async (deps: PrepareDeps, taken: readonly TakenDelivery[]) => {
  const fresh = taken.filter(({ body }) => body === null)
  const ids = fresh.flatMap(({ captureId, eventData }) => (captureId !== null && eventData === null ? [captureId] : []))
  const captures = ids.length === 0 ? [] : await findCaptures(deps.database, [...new Set(ids)])
  const byId = new Map(captures.map((capture) => [capture.id, capture]))
  const rendered = fresh.flatMap((delivery) => {
    const body = renderBody(delivery, byId.get(delivery.captureId ?? ''), deps.publicUrl)
    return body === undefined ? [] : [{ id: delivery.id, take: delivery.take, body }]
  })
  const stored = await storeBodies(deps.database, rendered)
  const bodies = new Map(rendered.filter(({ id }) => stored.has(id)).map(({ id, body }) => [id, body]))
  return taken.flatMap((delivery) => {
    const body = delivery.body ?? bodies.get(delivery.id)
    return body === undefined ? [] : [{ delivery, body }]
  })
}

const secretsOf = (deps: PrepareDeps, delivery: TakenDelivery): readonly string[] | undefined => {
  const { webhookId, sealedSecret, sealedPreviousSecret } = delivery
  if (webhookId === null) return []
  try {
    return [sealedSecret, sealedPreviousSecret].flatMap((sealed) =>
      sealed === null ? [] : [open(deps.openingKeys, webhookId, sealed).toString()],
    )
  } catch (cause) {
    deps.events.unsignable(webhookId, cause)
    return undefined
  }
}

/**
 * Prepares taken deliveries to be sent, and stores the bodies of those that are sent for the first time. Deletes deliveries
 * whose capture, batch or webhook was deleted; postpones those that cannot be signed.
 */
export const prepareDeliveries = async (deps: PrepareDeps, taken: readonly TakenDelivery[]): Promise<Prepared[]> => {
  const owned = taken.filter(({ webhookId, sealedSecret }) => webhookId === null || sealedSecret !== null)
  const whole = await withBodies(deps, owned)
  const kept = new Set(whole.map(({ delivery }) => delivery.id))
  const dropped = taken.filter(({ id }) => !kept.has(id))
  const deleted = await dropDeliveries(deps.database, dropped)
  if (deleted > 0) deps.events.dropped(deleted)
  const prepared = whole.map((each) => ({ ...each, secrets: secretsOf(deps, each.delivery) }))
  const unsignable = prepared.filter(({ secrets }) => secrets === undefined).map(({ delivery }) => delivery)
  await handBackDeliveries(deps.database, unsignable, unsignableMs)
  return prepared.flatMap(({ secrets, ...each }) => (secrets === undefined ? [] : [{ ...each, secrets }]))
}
