import { toRecord } from '#shared/db/record.ts'
import { findOwned } from './find-owned.ts'
import type { Operation } from './operation.ts'

/** `GET /screenshots/{id}`: the record of a capture. */
export const showStatus: Operation = async (context, exchange) => {
  const capture = await findOwned(context, exchange)
  return { status: 200, body: { data: toRecord(capture, context.publicUrl()) } }
}
