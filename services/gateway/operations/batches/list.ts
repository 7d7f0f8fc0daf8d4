import type { Static } from 'typebox'
import { enumSchema, object, optional, text } from '#shared/schema/fields.ts'
import { listBatches } from '#gateway/db/find-batch.ts'
import { checkNextCursor, cursorPage, positionAfter } from '#gateway/http/cursor-page.ts'
import { type CheckInput, perPageParameter } from '#gateway/http/input.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { batchPage, batchStatuses, type BatchSummary } from '#gateway/records/batch.ts'

const parameters = object({
  per_page: perPageParameter('Number of batches per page.'),
  ...optional({
    status: enumSchema(batchStatuses, 'Only batches with this status.'),
    cursor: text('`meta.next_cursor` of an earlier page.'),
  }),
})

const check: CheckInput<Static<typeof parameters>> = ({ cursor }, errors) => checkNextCursor(cursor, errors)

const positionOf = ({ created_at: createdAt, id }: BatchSummary) => ({ createdAt, id })

/** Lists the caller's batches, newest first. */
export const listOfBatches = forCaller({
  name: 'batch_list',
  method: 'GET',
  path: '/screenshots/batch',
  scopes: ['read'],
  tag: 'Batches',
  summary: 'List batches',
  description: 'Lists the batches of the account with the state of their screenshots, newest first.',
  query: parameters,
  checkQuery: check,
  answers: { 200: jsonAnswer('A page of batches.', batchPage) },
  run: async ({ replica }, { caller, query: { per_page: limit, status, cursor } }) => {
    const page = { limit: limit + 1, before: positionAfter(cursor) }
    const found = await listBatches(replica.asOf(caller), { accountId: caller.accountId, status }, page)
    return { status: 200, body: cursorPage(found, limit, positionOf) }
  },
})
