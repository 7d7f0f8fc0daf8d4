import { onlyRow, type Sql } from '#shared/db/connection.ts'
import { findSealedCapture, type FoundCapture } from '#shared/db/find-capture.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import type { RecordSeal } from '#shared/db/record-seal.ts'

/** A capture or batch of an account. Both are UUIDs. */
export type CaptureRef = { readonly id: string; readonly accountId: string }

/** A database whose records are stored sealed. */
export type Records = { readonly database: Sql; readonly records: Pick<RecordSeal, 'open' | 'openCapture'> }

/** A capture of an account, its url and options opened; undefined if there is none. */
export const findRecord = async (
  { database, records }: Records,
  ref: CaptureRef,
): Promise<FoundCapture | undefined> => {
  const row = await findSealedCapture(database, ref)
  return row && records.openCapture(row)
}

/** Deletes a capture of an account, in any state; see `delete-capture.sql` of `#shared/db/sql`. Returns false if it does not exist. */
export const deleteCapture = async (database: Sql, ref: CaptureRef): Promise<boolean> => {
  const statement = 'select delete_capture($1, $2) as deleted'
  return onlyRow(await database.query<{ deleted: boolean }>(statement, [ref.id, ref.accountId])).deleted
}

const checkSignedLinks = readStatement(import.meta.dirname, 'sql/check-signed-links.sql')

/** `allowed`: the account's plan includes signed links; `found`: the capture belongs to the account. */
export const maySign = async (database: Sql, ref: CaptureRef): Promise<{ allowed: boolean; found: boolean }> => {
  const [row] = await database.query<{ allowed: boolean; found: boolean }>(checkSignedLinks, [ref.id, ref.accountId])
  return row ?? { allowed: false, found: false }
}
