import { isTerminal, type Status } from '#shared/capture/status.ts'
import { findCaptures } from '#shared/db/find-capture.ts'
import { toRecord } from '#shared/db/record.ts'
import { flag, id, list, object } from '#shared/schema/fields.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Records } from '#gateway/db/captures.ts'
import type { AccountChanges, RecentCaptures } from '#gateway/db/recent-captures.ts'
import { answerStream } from '#gateway/live/answer-stream.ts'
import { type CaptureChanges, compareCaptures } from '#gateway/live/compare-captures.ts'
import { type ChangeReporter, eventText } from '#gateway/live/event-stream.ts'
import { openStreamContract } from '#gateway/openapi/schema/contract.ts'
import { endedScreenshot, screenshot } from '#gateway/records/capture.ts'
import { exampleIds } from '#gateway/records/example-values.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/** Between an event of the account and the read, so that captures that end together are read together. */
const gapMs = 250
/** Events of single captures in one report; reports of an account are a second apart. */
const singlesMax = 20
/** Ids in one `changed` event. */
const idsMax = 100

const events = {
  ready: object({}, 'The stream is open: changes from now on follow.'),
  accepted: screenshot,
  started: screenshot,
  ended: endedScreenshot,
  changed: object({
    ids: list(
      id('Id of a screenshot.', exampleIds.screenshot),
      idsMax,
      'Screenshots that have changed or are deleted.',
    ),
    more: flag('Whether others may have changed too: read the list again.'),
  }),
}

const example =
  'retry: 2000\n\nevent: ready\ndata: {}\n\nevent: deleted\ndata: {"id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301"}\n\n'

const nameOf = (status: Status) => (isTerminal(status) ? 'ended' : status === 'pending' ? 'accepted' : 'started')

type Source = Records &
  Pick<Context, 'publicUrl'> & { readonly accountChanges: AccountChanges; readonly accountId: string }

const changedText = (ids: readonly string[], more: boolean) =>
  eventText({ name: 'changed', data: { ids: ids.slice(0, idsMax), more: more || ids.length > idsMax } })

const deletedText = (captureId: string) => eventText({ name: 'deleted', data: { id: captureId } })

/** One event for each capture, with its record as it is now. */
const singleTexts = async function* singleTexts(source: Source, { changed, left, deleted }: CaptureChanges) {
  const { database, records, publicUrl, accountId } = source
  const ids = [...changed, ...left]
  const found = ids.length === 0 ? [] : await findCaptures(database, ids)
  const byId = new Map(found.filter((row) => row.accountId === accountId).map((row) => [row.id, row]))
  for (const each of ids) {
    const row = byId.get(each)
    // One that left the read without having ended is further back in the queue.
    if (row && (isTerminal(row.status) || !left.includes(each)))
      yield eventText({ name: nameOf(row.status), data: toRecord(records.openCapture(row), publicUrl()) })
  }
  for (const each of [...ids.filter((changedId) => !byId.has(changedId)), ...deleted]) yield deletedText(each)
}

/**
 * Reports the captures of an account: each that was accepted, began, ended or was deleted between two reads, in its current
 * state; above 20 of them, their ids in one event.
 */
const reportAccount = (source: Source): ChangeReporter => {
  const { accountId, accountChanges } = source
  let mark: string | undefined
  let before: RecentCaptures | undefined
  return async function* report() {
    const current = (await accountChanges.loadMark(accountId))?.mark
    if (before && current === mark) return 'pending'
    const now = await accountChanges.loadRecent(accountId)
    if (!now) return 'pending'
    if (before) {
      const changes = compareCaptures(before, now)
      const ids = [...changes.changed, ...changes.left, ...changes.deleted]
      if (ids.length > singlesMax) yield changedText(ids, changes.more)
      else {
        yield* singleTexts(source, changes)
        if (changes.more) yield changedText([], true)
      }
    } else yield eventText({ name: 'ready', data: {} })
    before = now
    mark = current
    return 'pending'
  }
}

/** Streams what happens to the captures of the account. */
export const accountEvents = forCaller({
  name: 'account_events',
  method: 'GET',
  path: '/events',
  scopes: ['read'],
  tag: 'Account',
  summary: 'Stream the events of the account',
  description:
    'Server-sent events of all screenshots of the account: `ready` once the stream is open; then `accepted`, `started` and `ended`, each with the record, and `deleted` `{ id }`. An event reports the current state: states that a screenshot has passed within a second are left out. More than 20 changes within a second come as one `changed` `{ ids, more }`; if `more` is true, other screenshots may have changed too. Nothing is sent again after a reconnect: read the list after each `ready`. The stream ends with `unauthorized` `{ code, message }` within seconds once the key or session would no longer be admitted.',
  ...openStreamContract(events, example),
  run: async (context, request) => {
    const { accountId } = request.caller
    const { database, records, publicUrl, accountChanges } = context
    const report = reportAccount({ database, records, publicUrl, accountChanges, accountId })
    return answerStream(context, request, { accountId, gapMs }, report)
  },
})
