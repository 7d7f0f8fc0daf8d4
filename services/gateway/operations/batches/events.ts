import { isTerminal, statuses } from '#shared/capture/status.ts'
import { toRecord } from '#shared/db/record.ts'
import { count, enumSchema, id as idField, object, typed } from '#shared/schema/fields.ts'
import type { Context } from '#gateway/context/context.ts'
import { type CaptureRef, findRecord, type Records } from '#gateway/db/captures.ts'
import { findBatch } from '#gateway/db/find-batch.ts'
import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { answerStream } from '#gateway/live/answer-stream.ts'
import { type ChangeReporter, eventText, lastId } from '#gateway/live/event-stream.ts'
import { streamContract } from '#gateway/openapi/schema/contract.ts'
import { batch, batchState } from '#gateway/records/batch.ts'
import { exampleIds } from '#gateway/records/example-values.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/** Minimum between two reads: each capture of the account that ends triggers one. */
const gapMs = 250

const events = {
  status: object(batchState),
  screenshot: typed({
    type: 'object',
    description: 'Record of a screenshot that has ended, with its `index`.',
    properties: {
      index: count('Index of the URL in the request, starting at 0.'),
      id: idField('Id of the screenshot.', exampleIds.screenshot),
      status: enumSchema(statuses.filter(isTerminal), 'How the screenshot ended.'),
    },
    required: ['index', 'id', 'status'],
    additionalProperties: true,
  }),
  result: batch,
}

const example =
  'retry: 2000\n\nevent: status\nid: m0\ndata: {"status":"processing","total":2,"pending":1,"processing":1,"completed":0,"failed":0}\n\n'

/** Indexes of the members whose end a client has received, encoded as event id, which a reconnecting client sends back. */
export type ReportedMembers = {
  readonly has: (index: number) => boolean
  readonly add: (index: number) => void
  readonly id: () => string
}

/** Decodes the set from `Last-Event-ID`; empty if that is invalid. */
export const reportedMembers = (lastEventId: string | undefined): ReportedMembers => {
  let bits = /^m[0-9a-f]{1,25}$/.test(lastEventId ?? '') ? BigInt(`0x${lastEventId?.slice(1)}`) : 0n
  const bitOf = (index: number) => (index < urlsMax ? 1n << BigInt(index) : 0n)
  return {
    has: (index) => (bits & bitOf(index)) !== 0n,
    add: (index) => {
      bits |= bitOf(index)
    },
    id: () => `m${bits.toString(16)}`,
  }
}

type Source = Records & Pick<Context, 'publicUrl'>

/**
 * Reports a batch: `status` with its counts on every change, `screenshot` with the record of each capture that has ended
 * and is not in `reported`, and `result` once all have ended, or `deleted`.
 */
const reportBatch = (source: Source, { id, accountId }: CaptureRef, reported: ReportedMembers): ChangeReporter => {
  let reportedState = ''
  return async function* report() {
    const found = await findBatch(source, { id, accountId })
    if (!found) {
      yield eventText({ name: 'deleted', id: lastId, data: { id } })
      return 'over'
    }
    const { status, total, pending, processing, completed, failed } = found
    const state = { status, total, pending, processing, completed, failed }
    if (JSON.stringify(state) !== reportedState) yield eventText({ name: 'status', id: reported.id(), data: state })
    reportedState = JSON.stringify(state)
    const ended = found.screenshots.filter((member) => isTerminal(member.status) && !reported.has(member.index))
    for (const { index, id: memberId } of ended) {
      const capture = await findRecord(source, { id: memberId, accountId })
      reported.add(index)
      if (!capture) continue
      const data = { index, ...toRecord(capture, source.publicUrl()) }
      yield eventText({ name: 'screenshot', id: reported.id(), data })
    }
    if (status !== 'completed') return 'pending'
    yield eventText({ name: 'result', id: lastId, data: found })
    return 'over'
  }
}

/** Streams the states of a batch as server-sent events, with the record of each capture at its end. */
export const batchEvents = forCaller({
  name: 'batch_events',
  method: 'GET',
  path: '/screenshots/batch/:id/events',
  scopes: ['capture', 'read'],
  tag: 'Batches',
  summary: 'Stream the events of a batch',
  description:
    'Server-sent events: `status` with the counts whenever they change, `screenshot` with `index` and the record of each screenshot when it ends, and finally `result` with the batch, `deleted`, or `unauthorized` within seconds once the key or session would no longer be admitted.',
  ...streamContract(
    events,
    example,
    'Id of the last event received. Screenshots already received are not sent again; after `result` the response is 204.',
  ),
  run: async (context, request) => {
    const { caller, id, headers } = request
    const { accountId } = caller
    const ref = { id, accountId }
    orNotFound(await findBatch(context, ref))
    const { 'last-event-id': lastSeen } = headers
    if (lastSeen === lastId) return { status: 204 }
    const reported = reportedMembers(typeof lastSeen === 'string' ? lastSeen : undefined)
    return answerStream(context, request, { accountId, gapMs }, reportBatch(context, ref, reported))
  },
})
