import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** A failed capture, with the request parameters that its record keeps. */
export type FailedCapture = {
  readonly id: string
  /** Null if the source was not a URL; a password in it is masked. */
  readonly url: string | null
  /** The options echoed in the record, secrets masked. */
  readonly options: Readonly<Record<string, unknown>>
  /** Receiver of its completion event, unmasked. */
  readonly webhookUrl: string | null
}

/** Selects the failed captures of an account that ended at `since` or later, ordered by that time. */
export type FailedFilter = {
  readonly accountId: string
  readonly codes: readonly CaptureErrorCode[]
  readonly since: Date
  readonly limit: number
}

/** The idempotency key under which a failed capture is requeued. Contains a space, which callers' keys cannot. */
export const requeueKeyOf = (id: string): string => `requeue ${id}`

const find = readStatement(import.meta.dirname, 'sql/find-failed.sql')

/** Finds failed captures that were not requeued. */
export const findFailed = (database: Sql, { accountId, codes, since, limit }: FailedFilter): Promise<FailedCapture[]> =>
  database.query<FailedCapture>(find, [accountId, codes, since.toISOString(), limit, requeueKeyOf('')])
