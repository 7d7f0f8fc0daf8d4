import { toRecord } from '#shared/db/record.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { answerStream } from '#gateway/live/answer-stream.ts'
import { lastId } from '#gateway/live/event-stream.ts'
import { reportBatch, reportedMembers } from '#gateway/live/report-batch.ts'
import {
  deletedEvent,
  emptyAnswer,
  headerParameter,
  streamAnswer,
  unauthorizedEvent,
} from '#gateway/openapi/contract.ts'
import { readErrors } from '#gateway/openapi/errors.ts'
import { streamExamples } from '#gateway/openapi/examples.ts'
import { closed, count, schemaRef, word } from '#gateway/openapi/json-schema.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/** Least milliseconds between two reads: each capture of the account that ends asks for one. */
const gapMs = 250

const counts = ['total', 'pending', 'processing', 'completed', 'failed']

const events = {
  status: closed({
    status: word(['pending', 'processing', 'completed'], 'State of the batch.'),
    ...Object.fromEntries(counts.map((name) => [name, count('How many.')])),
  }),
  screenshot: {
    type: 'object',
    description: 'The record of a screenshot that has ended, with its `index`.',
    properties: { index: count('Place of its URL in the request, from 0.') },
    required: ['index', 'id', 'status'],
    additionalProperties: true,
  },
  result: schemaRef('Batch'),
  deleted: deletedEvent,
  unauthorized: unauthorizedEvent,
}

/** What becomes of a batch, as server-sent events, each capture at its end. */
export const batchEvents = forCaller({
  name: 'batch_events',
  method: 'GET',
  path: '/screenshots/batch/:id/events',
  tag: 'Batches',
  summary: 'Follow a batch',
  description:
    'Server-sent events: `status` with the counts whenever they are others, `screenshot` with `index` and the record of each screenshot at its end, and last `result` with the batch, or `deleted`, or `unauthorized` where the key was revoked or has expired meanwhile.',
  ids: { id: 'Id of the batch.' },
  parameters: [
    headerParameter('Last-Event-ID', 'What was seen is not told again; after `result` the answer is 204.', {
      type: 'string',
    }),
  ],
  answers: {
    200: streamAnswer(events, streamExamples.batch),
    204: emptyAnswer('The end has been seen; clients stop connecting.'),
  },
  errors: readErrors,
  run: async (context, { caller: { accountId }, id, headers }) => {
    const look = () => context.captures.findBatch({ id, accountId })
    orNotFound(await look())
    const { 'last-event-id': lastSeen } = headers
    if (lastSeen === lastId) return { status: 204 }
    const report = reportBatch(
      {
        look,
        find: (member) => context.captures.find({ id: member, accountId }),
        toRecord: (capture) => toRecord(capture, context.publicUrl()),
      },
      id,
      reportedMembers(typeof lastSeen === 'string' ? lastSeen : undefined),
    )
    return answerStream(context, headers, { accountId, follows: accountId, gapMs }, report)
  },
})
