import { orNotFound } from '#gateway/http/errors.ts'
import { toBatchRecord } from '#gateway/capture/batch-record.ts'
import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/** A batch and its captures as they are now. */
export const showBatch = forCaller({
  name: 'batch_status',
  method: 'GET',
  path: '/screenshots/batch/:id',
  tag: 'Batches',
  summary: 'Show a batch',
  description: 'A batch and its screenshots as they are now.',
  ids: { id: 'Id of the batch.' },
  answers: { 200: jsonAnswer('The batch.', 'BatchAnswer') },
  run: async (context, { caller, id }) => {
    const batch = orNotFound(await context.captures.findBatch({ id, accountId: caller.accountId }))
    return { status: 200, body: { data: toBatchRecord(batch) } }
  },
})
