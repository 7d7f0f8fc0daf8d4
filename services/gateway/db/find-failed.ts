import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** A failed capture, as far as its record still says what was asked for. */
export type FailedCapture = {
  readonly id: string
  /** Null where the source was not an address; a password in it is masked. */
  readonly url: string | null
  /** What the record echoes, secrets masked. */
  readonly options: Readonly<Record<string, unknown>>
  /** Where its end was told, whole. */
  readonly webhookUrl: string | null
}

/** Which failed captures of an account are looked for: those that ended at `since` or later, the oldest end first. */
export type FailedFilter = {
  readonly accountId: string
  readonly codes: readonly CaptureErrorCode[]
  readonly since: Date
  readonly limit: number
}

/** The idempotency key under which a failed capture is accepted again. Callers cannot have it: theirs have no spaces. */
export const requeueKeyOf = (id: string): string => `requeue ${id}`

const find = readStatement(import.meta.dirname, 'sql/find-failed.sql')

/** Finds failed captures that were not accepted again. */
export const findFailed = (database: Sql, { accountId, codes, since, limit }: FailedFilter): Promise<FailedCapture[]> =>
  database.query<FailedCapture>(find, [accountId, codes, since.toISOString(), limit, requeueKeyOf('')])
