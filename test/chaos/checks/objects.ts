import { type Exchange, isSuccess } from '#test/chaos/history.ts'
import type { StoredObject } from '#test/chaos/snapshot.ts'
import { type CaptureFacts, type Invariant, isTerminal } from './facts.ts'

const oneWholeObject: Invariant = {
  name: 'one whole object',
  rule: 'A completed capture has its object, with the digest of its row, until its retention is over.',
  broken: ({ snapshot }) => {
    const objects = new Map(snapshot.objects.map((object) => [object.key, object]))
    return snapshot.captures.flatMap(({ id, status, objectKey, sha256, isExpired }) => {
      if (status !== 'completed' || isExpired) return []
      const object = objects.get(objectKey ?? '')
      if (!object) return [`${id}: its object ${objectKey} is missing`]
      return object.sha256 === sha256 ? [] : [`${id}: its object has the digest ${object.sha256}, not ${sha256}`]
    })
  },
}

const objectsByCapture = (objects: readonly StoredObject[]): Map<string, StoredObject[]> => {
  const found = new Map<string, StoredObject[]>()
  for (const object of objects) {
    const known = found.get(object.captureId)
    if (known) known.push(object)
    else found.set(object.captureId, [object])
  }
  return found
}

/** An upload of an attempt whose worker died before its report is an orphan, which the sweep finds after two days. The row does not count an attempt whose beginning NATS lost too. */
const fewObjects: Invariant = {
  name: 'one object per attempt',
  rule: 'A capture has no object but that of its row, those recorded for removal, and one for each attempt that was cut off, also if NATS lost its beginning.',
  broken: ({ snapshot, captures, losses }) => {
    const removals = new Set(snapshot.removals)
    return [...objectsByCapture(snapshot.objects)].flatMap(([id, objects]) => {
      const row = captures.get(id)?.row
      if (!row || !isTerminal(row.status)) return []
      const spare = objects.filter(({ key }) => key !== row.objectKey && !removals.has(key)).length
      const cutOff = row.status === 'completed' ? row.attempts - 1 : row.attempts
      return spare > Math.max(0, cutOff) + losses
        ? [`${id}: ${spare} objects too many after ${row.attempts} attempts`]
        : []
    })
  },
}

/** Operations that a deleted capture must not serve. */
const reads: ReadonlySet<string> = new Set(['status', 'image', 'linked-image', 'link', 'file', 'delete'])

const readAfter = (deleted: Exchange, { targeted, observations }: CaptureFacts): Exchange | undefined =>
  [
    ...targeted.filter((each) => reads.has(each.operation) && isSuccess(each)),
    ...observations.map(({ exchange }) => exchange).filter(({ operation }) => operation === 'list'),
  ].find((each) => each !== deleted && each.startMs > deleted.endMs)

const unreadableAfterDeletion: Invariant = {
  name: 'nothing is readable after deletion',
  rule: 'Once a deletion is confirmed, no request shows the capture or its image, by key, list or link.',
  broken: ({ captures }) =>
    [...captures.values()].flatMap((capture) => {
      const read = capture.deleted && readAfter(capture.deleted, capture)
      return read ? [`${capture.id}: ${read.operation} after its deletion`] : []
    }),
}

const nothingStoredAfterDeletion: Invariant = {
  name: 'nothing is stored after deletion',
  rule: 'A deleted capture has no row, and no object that no removal will reach.',
  broken: ({ captures, snapshot }) => {
    const due = new Set(snapshot.deletions)
    const removals = new Set(snapshot.removals)
    const shared = new Set(snapshot.captures.map(({ objectKey }) => objectKey))
    const stored = objectsByCapture(
      snapshot.objects.filter(({ key, captureId }) => !due.has(captureId) && !removals.has(key) && !shared.has(key)),
    )
    return [...captures.values()].flatMap(({ id, deleted, row }) => {
      if (!deleted) return []
      if (row) return [`${id}: its row is there`]
      return stored.has(id) ? [`${id}: its object is there`] : []
    })
  },
}

/** The first time by which the retention is over, as responses tell it: a 410, or `expires_at`. */
const expiredMs = ({ targeted, observations }: CaptureFacts): number =>
  Math.min(
    ...targeted.filter(({ status }) => status === 410).map(({ endMs }) => endMs),
    ...observations.map(({ sight }) => sight.expiresMs ?? Infinity),
  )

const goneAfterRetention: Invariant = {
  name: 'nothing is readable after retention',
  rule: 'No download of an image succeeds once its retention is over.',
  broken: ({ captures }) =>
    [...captures.values()].flatMap((capture) => {
      const overMs = expiredMs(capture)
      const isRead = capture.targeted.some(({ imageSha256, startMs }) => imageSha256 !== undefined && startMs > overMs)
      return isRead ? [`${capture.id}: downloaded after its retention`] : []
    }),
}

/** Invariants on objects and deletion. */
export const objectInvariants: readonly Invariant[] = [
  oneWholeObject,
  fewObjects,
  unreadableAfterDeletion,
  nothingStoredAfterDeletion,
  goneAfterRetention,
]
