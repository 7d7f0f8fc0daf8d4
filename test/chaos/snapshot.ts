/** Status of a capture. */
export type CaptureStatus = 'pending' | 'processing' | 'completed' | 'failed'

/** A row of `capture`. */
export type CaptureRow = {
  readonly id: string
  readonly account: string
  readonly status: CaptureStatus
  readonly charge: 'reserved' | 'settled' | 'released' | 'free'
  readonly errorCode: string | null
  readonly attempts: number
  readonly objectKey: string | null
  readonly sha256: string | null
  readonly fileSize: number | null
  /** Whether its image may have been removed: its retention is over. */
  readonly isExpired: boolean
}

/** A deleted capture: whether its charge stays, recorded by a trigger at the deletion. */
export type DeletedRow = { readonly account: string; readonly staysCharged: boolean }

/** A row of `webhook_delivery`; `path` is that of its receiver. */
export type DeliveryRow = {
  readonly captureId: string | null
  readonly path: string
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly attempts: number
}

/** An object of the store. */
export type StoredObject = { readonly key: string; readonly captureId: string; readonly sha256: string }

/** State of PostgreSQL, object store and JetStream after the run, once nothing more is due. */
export type Snapshot = {
  readonly captures: readonly CaptureRow[]
  readonly deleted: readonly DeletedRow[]
  /** Sums of all periods. */
  readonly usage: readonly { readonly account: string; readonly reserved: number; readonly settled: number }[]
  /** Monthly quotas of the accounts that have one. */
  readonly quotas: Readonly<Record<string, number>>
  readonly deliveries: readonly DeliveryRow[]
  readonly objects: readonly StoredObject[]
  /** Keys that are recorded for removal. */
  readonly removals: readonly string[]
  /** Deleted captures whose objects and messages are still to be removed, or to be removed again. */
  readonly deletions: readonly string[]
  /** Captures in the outbox. */
  readonly outbox: readonly string[]
  /** Captures with a message in the stream. */
  readonly messages: readonly string[]
  /** Meters that differ from the rows that they count, as text. */
  readonly meterDifferences: readonly string[]
}
