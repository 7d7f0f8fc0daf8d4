import { toRecord } from '#shared/db/record.ts'
import { answerStream } from '#gateway/live/answer-stream.ts'
import { lastId } from '#gateway/live/event-stream.ts'
import { reportCapture } from '#gateway/live/report-capture.ts'
import {
  deletedEvent,
  emptyAnswer,
  headerParameter,
  streamAnswer,
  unauthorizedEvent,
} from '#gateway/openapi/contract.ts'
import { readErrors } from '#gateway/openapi/errors.ts'
import { streamExamples } from '#gateway/openapi/examples.ts'
import { closed, count, moment, schemaRef, word } from '#gateway/openapi/json-schema.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { orNotFound } from '#gateway/http/errors.ts'

const events = {
  status: closed(
    { status: word(['pending', 'processing'], 'State of the screenshot.') },
    { position: count('How many captures wait before this one.') },
  ),
  started: closed({ started_at: moment('When the attempt began.') }),
  result: schemaRef('EndedScreenshot'),
  deleted: deletedEvent,
  unauthorized: unauthorizedEvent,
}

/** What becomes of a capture, as server-sent events, up to its record at the end. */
export const captureEvents = forCaller({
  name: 'events',
  method: 'GET',
  path: '/screenshots/:id/events',
  tag: 'Screenshots',
  summary: 'Follow a screenshot',
  description:
    'Server-sent events: `status` `{ status, position? }` whenever it is another, `started` `{ started_at }`, and last `result` with the record, or `deleted` `{ id }`, or `unauthorized` `{ code, message }` where the key was revoked or has expired meanwhile. `position` is how many captures wait before this one.',
  ids: { id: 'Id of the screenshot.' },
  parameters: [
    headerParameter('Last-Event-ID', 'The last event that was seen; after `result` the answer is 204.', {
      type: 'string',
    }),
  ],
  answers: {
    200: streamAnswer(events, streamExamples.capture),
    204: emptyAnswer('The end has been seen; clients stop connecting.'),
  },
  errors: readErrors,
  run: async (context, { caller: { accountId }, id: given, headers }) => {
    const { id } = orNotFound(await context.captures.find({ id: given, accountId }))
    // The answer at which clients of such streams stop connecting again.
    if (headers['last-event-id'] === lastId) return { status: 204 }
    const report = reportCapture(
      {
        look: context.loadProgress,
        find: () => context.captures.find({ id, accountId }),
        toRecord: (capture) => toRecord(capture, context.publicUrl()),
      },
      id,
    )
    return answerStream(context, headers, { accountId, follows: id, gapMs: 0 }, report)
  },
})
