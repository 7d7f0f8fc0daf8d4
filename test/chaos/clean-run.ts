import type { Limits } from './checks/facts.ts'
import { type Delivery, type Event, type Exchange, sha256, type Sight } from './history.ts'
import type { CaptureRow, Snapshot } from './snapshot.ts'

/** A history and its snapshot, which tests change. */
export type DoctoredRun = {
  history: Event[]
  snapshot: { -readonly [Name in keyof Snapshot]: Snapshot[Name] }
}

/** The bounds of `cleanRun`. */
export const cleanLimits: Limits = {
  recoveryMs: 1000,
  stallMs: 5000,
  webhookAttempts: 2,
  lateDeliveryMs: 1000,
  rowRemovalMs: 5000,
}

const account = 'a'
const webhook = '/hook'
/** Every fourth capture is deleted. */
const isDeleted = (n: number) => n % 4 === 3

/** Id of the nth capture. */
export const captureId = (n: number): string => `capture-${n}`
/** Key of the nth capture's object. */
export const objectKey = (n: number): string => `captures/${captureId(n)}/1`
/** Digest of the nth capture's image. */
export const imageHash = (n: number): string => sha256(String(n))

/** An exchange of the account `a`, successful unless `fields` says otherwise. */
export const exchange = (fields: Partial<Exchange> & Pick<Exchange, 'operation' | 'startMs'>): Exchange => ({
  kind: 'exchange',
  account,
  endMs: fields.startMs + 1,
  status: 200,
  captures: [],
  ...fields,
})

const pageExchange = (n: number, ms: number): (Exchange | Delivery)[] => {
  const id = captureId(n)
  const pending: Sight = { id, status: 'pending' }
  const completed: Sight = { id, status: 'completed', fileSize: 10, expiresMs: ms + 1000 }
  const create = { operation: 'create', status: 202, captures: [pending], budgetMs: 25_000, webhook } as const
  const first = { ...create, idempotencyKey: `key-${n}` }
  const delivery = { kind: 'delivery', path: webhook, captureId: id, bodySha256: sha256(id) } as const
  const exchanges: (Exchange | Delivery)[] = [
    exchange({ ...first, startMs: ms }),
    exchange({ ...first, startMs: ms + 2 }),
    exchange({ operation: 'status', startMs: ms + 4, target: id, captures: [{ id, status: 'processing' }] }),
    exchange({ operation: 'list', startMs: ms + 6, captures: [completed] }),
    exchange({ operation: 'image', startMs: ms + 8, target: id, imageSha256: imageHash(n) }),
    { ...delivery, atMs: ms + 9, answered: 500 },
    { ...delivery, atMs: ms + 10, answered: 200 },
  ]
  if (!isDeleted(n)) return exchanges
  return [
    ...exchanges,
    exchange({ operation: 'delete', startMs: ms + 12, target: id, status: 204 }),
    exchange({ operation: 'status', startMs: ms + 14, target: id, status: 404 }),
  ]
}

/** The row of the nth capture. */
export const pageRow = (n: number): CaptureRow => ({
  id: captureId(n),
  account,
  status: 'completed',
  charge: 'settled',
  errorCode: null,
  attempts: 1,
  objectKey: objectKey(n),
  sha256: imageHash(n),
  fileSize: 10,
  isExpired: false,
  files: [],
  isUploaded: false,
})

/** A run of `count` captures without a violation: each is created twice, read, listed, downloaded and delivered; some are deleted. */
export const cleanRun = (count: number): DoctoredRun => {
  const numbers = Array.from({ length: count }, (_, n) => n)
  const remaining = numbers.filter((n) => !isDeleted(n))
  const gone = numbers.filter(isDeleted)
  const used = exchange({ operation: 'usage', startMs: count + 100, used: count })
  return {
    history: [
      ...numbers.flatMap((n) => pageExchange(n, n)),
      { kind: 'fault', name: 'kill ledger', startMs: 2, endMs: 5 },
      used,
    ],
    snapshot: {
      captures: remaining.map(pageRow),
      deleted: gone.map(() => ({ account, staysCharged: true })),
      usage: [{ account, reserved: 0, settled: count }],
      quotas: { [account]: count },
      deliveries: remaining.map((n) => ({
        captureId: captureId(n),
        isUpload: false,
        path: webhook,
        state: 'delivered',
        attempts: 2,
      })),
      webhooks: [],
      oldRows: [],
      movable: [],
      atMs: count + 200,
      objects: remaining.map((n) => ({ key: objectKey(n), captureId: captureId(n), sha256: imageHash(n), files: [] })),
      removals: [],
      deletions: [],
      outbox: [],
      messages: [],
      meterDifferences: [],
    },
  }
}
