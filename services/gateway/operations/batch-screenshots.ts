import { createBatch } from '#gateway/accept/create-batch.ts'
import { toBatchRecord } from '#gateway/answer/batch-record.ts'
import { batchUrl } from '#shared/db/record.ts'
import type { Operation } from './operation.ts'

/** `POST /screenshots/batch`: accepts one capture for each of `urls`, all or none, and answers with the new batch at once. */
export const batchScreenshots: Operation = async (context, exchange) => {
  const batch = await createBatch(context, exchange)
  return {
    status: 202,
    headers: { location: batchUrl(context.publicUrl(), batch.id) },
    body: { data: toBatchRecord(batch) },
  }
}
