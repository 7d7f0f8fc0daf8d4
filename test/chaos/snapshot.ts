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
  /** Its outputs and renditions, in the order in which they are stored behind its image. */
  readonly files: readonly StoredFile[]
  /** Whether its image is to be uploaded. */
  readonly isUploaded: boolean
}

/** An output or rendition. */
export type StoredFile = { readonly name: string; readonly bytes: number; readonly sha256: string }

/** A deleted capture: whether its charge stays, recorded by a trigger at the deletion. */
export type DeletedRow = { readonly account: string; readonly staysCharged: boolean }

/** A row of `webhook_delivery`; `path` is that of its receiver, of an upload that of the bucket. */
export type DeliveryRow = {
  readonly captureId: string | null
  readonly isUpload: boolean
  readonly path: string
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly attempts: number
}

/** An object of the store: the digest of its image, and those of the files behind it, as long as the row says that they are. */
export type StoredObject = {
  readonly key: string
  readonly captureId: string
  readonly sha256: string
  readonly files: readonly string[]
}

/** A webhook for all captures of an account; `path` is that of its receiver. */
export type WebhookRow = { readonly account: string; readonly path: string }

/** A record of a capture that ended long ago; `isDue`: its retention is over. */
export type PlantedRow = { readonly id: string; readonly isDue: boolean; readonly plantedMs: number }

/** Such a record at the time of the snapshot. */
export type OldRow = PlantedRow & { readonly isThere: boolean }

/** An account that may have moved: how many cells serve it, and whether one holds up its changes; `isStill`: its move to the second did not succeed. */
export type MovableAccount = {
  readonly account: string
  readonly servedBy: number
  readonly isHeld: boolean
  readonly isStill: boolean
}

/** State of PostgreSQL, object store and JetStream after the run, once nothing more is due. */
export type Snapshot = {
  readonly captures: readonly CaptureRow[]
  readonly deleted: readonly DeletedRow[]
  /** Sums of all periods. */
  readonly usage: readonly { readonly account: string; readonly reserved: number; readonly settled: number }[]
  /** Monthly quotas of the accounts that have one. */
  readonly quotas: Readonly<Record<string, number>>
  readonly deliveries: readonly DeliveryRow[]
  readonly webhooks: readonly WebhookRow[]
  readonly oldRows: readonly OldRow[]
  readonly movable: readonly MovableAccount[]
  /** When it was taken, in monotonic milliseconds. */
  readonly atMs: number
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
