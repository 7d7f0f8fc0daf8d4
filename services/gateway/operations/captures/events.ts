import { isTerminal } from '#shared/capture/status.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { toRecord } from '#shared/db/record.ts'
import type { Context } from '#gateway/context/context.ts'
import { findRecord } from '#gateway/db/captures.ts'
import type { Progress } from '#gateway/db/find-progress.ts'
import { answerStream } from '#gateway/live/answer-stream.ts'
import { type ChangeReporter, eventText, lastId } from '#gateway/live/event-stream.ts'
import { streamContract } from '#gateway/openapi/schema/contract.ts'
import { count, enumSchema, object, optional, timestamp } from '#shared/schema/fields.ts'
import { endedScreenshot } from '#gateway/records/capture.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { orNotFound } from '#gateway/http/errors.ts'

const events = {
  status: object({
    status: enumSchema(['pending', 'processing'], 'Status of the screenshot.'),
    ...optional({ position: count('Number of captures waiting ahead of this one.') }),
  }),
  started: object({ started_at: timestamp('Start time of the attempt.') }),
  result: endedScreenshot,
}

const example =
  'retry: 2000\n\nevent: status\nid: pending-3\ndata: {"status":"pending","position":3}\n\nevent: result\nid: result\ndata: {"id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","status":"completed"}\n\n'

const stateId = ({ status, position }: Progress): string => (position === null ? status : `${status}-${position}`)

const stateText = (progress: Progress): string => {
  const { status, position } = progress
  return eventText({ name: 'status', id: stateId(progress), data: { status, ...(position !== null && { position }) } })
}

/** The capture if it has ended. Reads its row, because the batched progress may come a second later. */
const findEnded = async (find: () => Promise<FoundCapture | undefined>): Promise<FoundCapture | undefined> => {
  const capture = await find()
  return capture && isTerminal(capture.status) ? capture : undefined
}

type Source = Pick<Context, 'loadProgress' | 'publicUrl'> & { readonly find: () => Promise<FoundCapture | undefined> }

/** Reports one capture: `status` on every change, `started` once, and `result` with the record, or `deleted`. */
export const reportCapture = (id: string, { find, loadProgress, publicUrl }: Source): ChangeReporter => {
  let reportedId = ''
  let startedAt: string | null = null
  return async function* report(woken) {
    const ended = woken ? await findEnded(find) : undefined
    const progress = ended ? undefined : await loadProgress(id)
    if (!progress || isTerminal(progress.status)) {
      const capture = ended ?? (await find())
      const [name, data] = capture ? ['result', toRecord(capture, publicUrl())] : ['deleted', { id }]
      yield eventText({ name, id: lastId, data })
      return 'over'
    }
    if (stateId(progress) !== reportedId) yield stateText(progress)
    reportedId = stateId(progress)
    if (progress.startedAt !== null && progress.startedAt !== startedAt) {
      startedAt = progress.startedAt
      yield eventText({ name: 'started', id: reportedId, data: { started_at: startedAt } })
    }
    return 'pending'
  }
}

/** Streams the states of a capture as server-sent events, until its record at the end. */
export const captureEvents = forCaller({
  name: 'events',
  method: 'GET',
  path: '/screenshots/:id/events',
  scopes: ['capture', 'read'],
  tag: 'Screenshots',
  summary: 'Stream the events of a screenshot',
  description:
    'Server-sent events: `status` `{ status, position? }` whenever it changes, `started` `{ started_at }`, and finally `result` with the record, `deleted` `{ id }`, or `unauthorized` `{ code, message }` within seconds once the key or session would no longer be admitted. `position` is the number of captures waiting ahead of this one.',
  ...streamContract(events, example, 'Id of the last event received; after `result` the response is 204.'),
  run: async (context, request) => {
    const {
      caller: { accountId },
      id: requestedId,
      headers,
    } = request
    const { loadProgress, publicUrl } = context
    const find = () => findRecord(context, { id: requestedId, accountId })
    const { id } = orNotFound(await find())
    // EventSource clients stop reconnecting on a 204.
    if (headers['last-event-id'] === lastId) return { status: 204 }
    return answerStream(
      context,
      request,
      { accountId, id, gapMs: 0 },
      reportCapture(id, { find, loadProgress, publicUrl }),
    )
  },
})
