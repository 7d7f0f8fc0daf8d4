import { findBatch } from '#gateway/db/find-batch.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { batchAnswer } from '#gateway/records/batch.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/** Returns the current state of a batch and its captures. */
export const showBatch = forCaller({
  name: 'batch_status',
  method: 'GET',
  path: '/screenshots/batch/:id',
  scopes: ['capture', 'read'],
  tag: 'Batches',
  summary: 'Show a batch',
  description: 'Returns the current state of a batch and its screenshots.',
  answers: { 200: jsonAnswer('The batch.', batchAnswer) },
  run: async (context, { caller, id }) => {
    const data = orNotFound(
      await findBatch(
        { database: context.replica.asOf(caller), records: context.records },
        { id, accountId: caller.accountId },
      ),
    )
    return { status: 200, body: { data } }
  },
})
