import type { Database } from '#shared/db/connection.ts'
import { findCaptures, type StoredCapture } from '#shared/db/find-capture.ts'
import type { RecordSeal } from '#shared/db/record-seal.ts'
import { handBackDeliveries } from './db/record-attempts.ts'
import { dropDeliveries, type TakenDelivery } from './db/take-deliveries.ts'
import { open, type OpeningKey } from '#shared/queue/seal.ts'
import type { Events } from './telemetry/events.ts'
import { renderBody } from './render-body.ts'
import { renderUploadKey } from './render-upload-key.ts'
import type { StoredImage, Upload } from './upload.ts'

/** Dependencies of `prepareDeliveries`. */
export type PrepareDeps = {
  readonly database: Pick<Database, 'query'>
  readonly openingKeys: readonly OpeningKey[]
  readonly records: Pick<RecordSeal, 'openCapture' | 'openText' | 'openUrl' | 'sealText'>
  readonly publicUrl: string
  readonly events: Pick<Events, 'dropped' | 'unreadable'>
}

/** What is sent: a body, signed with each of the secrets, or an image to a key of a bucket. */
type Content =
  | { readonly kind: 'webhook'; readonly body: string; readonly secrets: readonly string[] }
  | ({ readonly kind: 'upload' } & Pick<Upload, 'key' | 'credentials' | 'image'>)

/** A delivery that is ready to be sent. */
export type Prepared = Content & {
  readonly delivery: TakenDelivery
  /** Of the receiver or the bucket. */
  readonly url: string
  /** The body, of an upload its key, as it is stored with the first result; null if it is stored already. */
  readonly newBody: string | null
}

/** Wait after something could not be decrypted: the operator has to correct the keys. */
const unreadableMs = 60_000

/** What `read` decrypts; undefined, and reported, if its key is missing or a bit was changed. */
const decrypted = <T>({ events }: PrepareDeps, what: string, read: () => T): T | undefined => {
  try {
    return read()
  } catch (cause) {
    events.unreadable(what, cause)
    return undefined
  }
}

type Captures = ReadonlyMap<string | null, StoredCapture>

/** The captures that bodies are built from, and those whose images are uploaded, by id. */
const findNeeded = async ({ database }: PrepareDeps, taken: readonly TakenDelivery[]): Promise<Captures> => {
  const ids = taken.flatMap(({ captureId, eventData, destinationId, body }) =>
    captureId !== null && (destinationId !== null || (body === null && eventData === null)) ? [captureId] : [],
  )
  const captures = ids.length === 0 ? [] : await findCaptures(database, [...new Set(ids)])
  return new Map(captures.map((capture) => [capture.id, capture]))
}

const imageOf = (capture: StoredCapture | undefined): StoredImage | undefined => {
  if (!capture) return undefined
  const { objectKey, fileSize: bytes, sha256, mimeType: mediaType, files } = capture
  if (objectKey === null || bytes === null || sha256 === null || mediaType === null) return undefined
  return { objectKey, bytes, sha256, mediaType, alone: files === null }
}

/**
 * The bodies by delivery, of an upload its key, built unless stored: null if there is nothing to send any more, undefined if
 * unreadable.
 */
const renderBodies = (deps: PrepareDeps, taken: readonly TakenDelivery[], captures: Captures) => {
  const bodyOf = (delivery: TakenDelivery) => {
    const { id, body } = delivery
    const what = `delivery ${id}`
    const stored = captures.get(delivery.captureId)
    if (delivery.destinationId !== null && delivery.captureId !== null && !stored) return null
    if (body !== null) return decrypted(deps, what, () => deps.records.openText(id, body))
    const capture = stored && decrypted(deps, what, () => deps.records.openCapture(stored))
    if (stored && !capture) return undefined
    if (delivery.destinationId !== null) return renderUploadKey(delivery, capture) ?? null
    return renderBody(delivery, capture, deps.publicUrl) ?? null
  }
  return new Map(taken.map((delivery) => [delivery.id, bodyOf(delivery)]))
}

/** The webhook or destination whose secret signs a delivery. */
const secretOwner = ({ webhookId, destinationId }: TakenDelivery) => {
  if (webhookId !== null) return { id: webhookId, kind: 'webhook' }
  return destinationId === null ? null : { id: destinationId, kind: 'upload destination' }
}

const openSecrets = (deps: PrepareDeps, delivery: TakenDelivery): readonly string[] | undefined => {
  const { sealedSecret, sealedPreviousSecret } = delivery
  const owner = secretOwner(delivery)
  if (owner === null) return []
  return decrypted(deps, `secret of ${owner.kind} ${owner.id}`, () =>
    [sealedSecret, sealedPreviousSecret].flatMap((sealed) =>
      sealed === null ? [] : [open(deps.openingKeys, owner.id, sealed).toString()],
    ),
  )
}

/** Undefined, and reported, if a secret or the URL cannot be decrypted. */
const prepare = (
  deps: PrepareDeps,
  delivery: TakenDelivery,
  body: string,
  capture: StoredCapture | undefined,
): Prepared | undefined => {
  const secrets = openSecrets(deps, delivery)
  const { id, destination, captureId } = delivery
  const url = decrypted(deps, `URL of delivery ${id}`, () => deps.records.openUrl(delivery.url))
  if (secrets === undefined || url === undefined) return undefined
  const newBody = delivery.body === null ? deps.records.sealText(id, body) : null
  const [secret] = secrets
  if (destination === null || secret === undefined) return { kind: 'webhook', delivery, url, newBody, body, secrets }
  const image = captureId === null ? 'test' : imageOf(capture)
  return { kind: 'upload', delivery, url, newBody, key: body, credentials: { ...destination, secret }, image }
}

/**
 * Prepares taken deliveries to be sent. Deletes deliveries whose capture, webhook or destination was deleted; postpones
 * those that cannot be decrypted or signed. A body that was not stored is built from the same rows with the same `sent_at`.
 */
export const prepareDeliveries = async (deps: PrepareDeps, taken: readonly TakenDelivery[]): Promise<Prepared[]> => {
  const owned = taken.filter((delivery) => secretOwner(delivery) === null || delivery.sealedSecret !== null)
  const captures = await findNeeded(deps, owned)
  const bodies = renderBodies(deps, owned, captures)
  const bodyOf = ({ id }: TakenDelivery) => (bodies.has(id) ? bodies.get(id) : null)
  const deleted = await dropDeliveries(
    deps.database,
    taken.filter((delivery) => bodyOf(delivery) === null),
  )
  if (deleted > 0) deps.events.dropped(deleted)
  const withBody = owned.filter((delivery) => bodyOf(delivery) !== null)
  const prepared = withBody.flatMap((delivery) => {
    const body = bodyOf(delivery)
    if (typeof body !== 'string') return []
    return prepare(deps, delivery, body, captures.get(delivery.captureId)) ?? []
  })
  const ready = new Set(prepared.map(({ delivery }) => delivery.id))
  await handBackDeliveries(
    deps.database,
    withBody.filter(({ id }) => !ready.has(id)),
    unreadableMs,
  )
  return prepared
}
