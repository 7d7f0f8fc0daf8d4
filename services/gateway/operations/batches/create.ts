import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import { batchUrl } from '#shared/db/record.ts'
import { createBatch } from '#gateway/capture/create-batch.ts'
import { batchSchema } from '#gateway/openapi/capture-parameters.ts'
import { batchAnswer } from '#gateway/records/batch.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { operation } from '#gateway/operations/operation.ts'

/** Accepts one capture for each of `urls`, all or none, and returns the new batch. */
export const createScreenshots = operation({
  name: 'batch',
  method: 'POST',
  path: '/screenshots/batch',
  scopes: ['capture'],
  tag: 'Batches',
  summary: `Capture up to ${urlsMax} URLs`,
  description:
    'Accepts one capture for each URL, all or none. Counts as one request against the rate limit, and as one screenshot for each URL against the quota.',
  access: 'key',
  accepts: true,
  body: {
    name: 'BatchParameters',
    schema: batchSchema,
    example: { urls: ['https://example.com/', 'https://example.org/'], full_page: true },
  },
  answers: { 202: jsonAnswer('Accepted.', batchAnswer, ['Location', 'Idempotent-Replayed']) },
  run: async (context, exchange) => {
    const { batch, caller, isReplay } = await createBatch(context, exchange)
    return {
      status: 202,
      caller,
      isReplay,
      headers: { location: batchUrl(context.publicUrl(), batch.id) },
      body: { data: batch },
    }
  },
})
