import type { CapturedFile } from '#shared/capture/files.ts'
import type { Lane, Pool } from '#shared/capture/lane.ts'
import type { PageMetadata } from '#shared/capture/page-metadata.ts'
import type { Status } from '#shared/capture/status.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { Failure } from '#shared/errors/delivery-failures.ts'
import type { Sql } from './connection.ts'

/** A capture. Fields that its status has not reached are null; times are ISO 8601 UTC with microseconds. */
export type FoundCapture = {
  readonly id: string
  readonly accountId: string
  readonly status: Status
  readonly url: string | null
  readonly options: Readonly<Record<string, unknown>>
  /** Whether it shares another capture's result. */
  readonly cached: boolean
  readonly batchId: string | null
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string | null
  /** When the image's retention ends; only of a completed capture. */
  readonly expiresAt: string | null
  readonly objectKey: string | null
  readonly fileSize: number | null
  /** Hex digest of the image. */
  readonly sha256: string | null
  readonly mimeType: string | null
  readonly width: number | null
  readonly height: number | null
  readonly processingTimeMs: number | null
  readonly targetStatus: number | null
  readonly finalUrl: string | null
  readonly warnings: readonly { readonly code: string; readonly message: string }[] | null
  readonly timings: Readonly<Record<string, number>> | null
  readonly metadata: PageMetadata | null
  /** Stored behind the image. */
  readonly files: readonly CapturedFile[] | null
  readonly error: { readonly code: CaptureErrorCode; readonly message: string } | null
  /** Null before it is queued, and once its destination was deleted before it ended. */
  readonly upload: FoundUpload | null
}

/** The upload of a capture's image. */
type FoundUpload = {
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly bucket: string
  readonly prefix: string
  readonly attempts: number
  /** Of the latest attempt. */
  readonly httpStatus: number | null
  readonly error: Failure | null
}

const uploadColumn = `case when options ->> 'upload_to' is not null then (
    select json_build_object('state', u.state, 'bucket', u.subject ->> 'bucket', 'prefix', u.subject ->> 'prefix',
                             'attempts', u.attempts, 'httpStatus', a.status, 'error', a.error)
      from webhook_delivery u left join webhook_attempt a on a.delivery_id = u.id and a.number = u.attempts
     where u.capture_id = capture.id and u.upload_destination_id is not null limit 1) end as upload`

/**
 * A capture as it is stored: url and options sealed, and with them what its result quotes of the page and the request. A message
 * that the ledger wrote quotes nothing, and is plain.
 */
export type StoredCapture = Omit<FoundCapture, 'finalUrl' | 'warnings' | 'metadata' | 'error'> & {
  readonly sealedResult: string | null
  readonly error: { readonly code: CaptureErrorCode; readonly message: string | null } | null
}

/** Selects a `StoredCapture` from the table `capture`. Each column has the same form in JSON: lists come as JSON. */
export const captureColumns = `id, account_id as "accountId", status, url, options, cached, batch_id as "batchId", iso_time(created_at) as "createdAt",
  iso_time(started_at) as "startedAt", iso_time(completed_at) as "completedAt",
  iso_time(expires_at) as "expiresAt", object_key as "objectKey", file_size::float8 as "fileSize", sha256,
  mime_type as "mimeType", width, height, processing_time_ms as "processingTimeMs", target_status as "targetStatus",
  sealed_result as "sealedResult", timings, files,
  case when error_code is not null then json_build_object('code', error_code, 'message', error_message) end as error,
  ${uploadColumn}`

/** The same statement twice: by the plans of `find-capture.sql`, and by a plan of its own, which takes several times as long. */
const statementsOn = (condition: string) => ({
  quick: `select ${captureColumns} from find_capture($1) as capture where ${condition}`,
  thorough: `select ${captureColumns} from capture where id = $1 and ${condition}`,
})

const ofAccount = statementsOn('account_id = $2')
const linked = statementsOn('exists (select from account a where a.id = account_id and a.disabled_at is null)')

/** The function misses a capture that moves, while it waits for that, to a partition that is being made (`keep-captures.sql`). */
const findOne = async (
  database: Sql,
  { quick, thorough }: typeof linked,
  values: readonly string[],
): Promise<StoredCapture | undefined> => {
  const [row] = await database.query<StoredCapture>(quick, values, 'keep')
  return row ?? (await database.query<StoredCapture>(thorough, values))[0]
}

/**
 * Finds an account's capture by its id, a UUID; undefined if there is none or it belongs to another account. Its url and options are
 * as stored, sealed: what its image needs is readable without the key of records.
 */
export const findSealedCapture = (
  database: Sql,
  ref: { readonly id: string; readonly accountId: string },
): Promise<StoredCapture | undefined> => findOne(database, ofAccount, [ref.id, ref.accountId])

/** Finds a capture of any account that is not disabled, by its id; only for requests with a link signed for it. */
export const findLinkedCapture = (database: Sql, id: string): Promise<StoredCapture | undefined> =>
  findOne(database, linked, [id])

const findMany = `select ${captureColumns} from unnest($1::uuid[]) as key cross join lateral find_capture(key) as capture`
const findManyThoroughly = `select ${captureColumns} from capture where id = any ($1::uuid[])`

/** Finds captures by their ids, unordered; missing ones are left out. */
export const findCaptures = async (database: Sql, ids: readonly string[]): Promise<StoredCapture[]> => {
  const found = await database.query<StoredCapture>(findMany, [ids])
  return found.length === ids.length ? found : database.query<StoredCapture>(findManyThoroughly, [ids])
}

/** What publishing a capture needs. */
type CaptureToSend = {
  readonly id: string
  readonly accountId: string
  readonly pool: Pool
  readonly lane: Lane
  readonly budgetMs: number
  readonly attempts: number
  readonly sealed: Buffer
  readonly traceparent: string | null
}

/** Finds the message to publish for a capture; undefined if it has ended, follows another, or is gone. */
export const findMessage = async (database: Sql, id: string): Promise<CaptureToSend | undefined> => {
  const [row] = await database.query<CaptureToSend>(
    `select id, account_id as "accountId", pool, lane, budget_ms as "budgetMs", attempts, sealed, traceparent
       from capture where id = $1 and part = 'open' and sealed is not null and follows is null`,
    [id],
  )
  return row
}
