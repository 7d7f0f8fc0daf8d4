import type { Static } from 'typebox'
import type { ErrorCollector } from '#shared/capture/validation-errors.ts'
import { isId } from '#shared/db/is-id.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { line, object, optional, text } from '#shared/schema/fields.ts'
import type { Sql } from '#shared/db/connection.ts'
import { type ActivityFilter, listActivities } from '#gateway/db/activity.ts'
import { checkNextCursor, cursorPage, positionAfter } from '#gateway/http/cursor-page.ts'
import { type CheckInput, perPageParameter } from '#gateway/http/input.ts'
import { checkRange, momentsOf } from '#gateway/http/time-range.ts'
import { recheck, takeStream } from '#gateway/live/answer-stream.ts'
import { type EventTexts, eventStream } from '#gateway/live/event-stream.ts'
import { jsonAnswer, linesAnswer } from '#gateway/openapi/schema/contract.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { activityEntry, type ActivityEntry, activityPage } from '#gateway/records/activity.ts'

const filters = {
  to: text('Only activities on or before this date or date-time.'),
  key_id: text('Only activities of this API key.'),
  operation: line(1, 100, { description: 'Only activities of this operation, by its `operationId`.' }),
}
const parameters = object({
  per_page: perPageParameter('Number of activities per page.'),
  ...optional({
    from: text('Only activities on or after this date or date-time.'),
    ...filters,
    cursor: text('`meta.next_cursor` of an earlier page.'),
  }),
})
type Parameters = Static<typeof parameters>

const exportParameters = object({
  from: text('Only activities on or after this date or date-time.', { example: '2026-03-01' }),
  ...optional(filters),
})

const checkFilters = (values: Partial<Parameters>, errors: ErrorCollector) => {
  checkRange(values, errors)
  if (values.key_id !== undefined && !isId(values.key_id)) errors.report('key_id', 'must be the id of a key')
}

const check: CheckInput<Parameters> = (values, errors) => {
  checkFilters(values, errors)
  checkNextCursor(values.cursor, errors)
}

const positionOf = ({ at: createdAt, id }: ActivityEntry) => ({ createdAt, id })

/** Lists what the requests of the account did. */
export const listActivity = forCaller({
  name: 'activity',
  method: 'GET',
  path: '/account/activity',
  scopes: ['read'],
  tag: 'Account',
  summary: 'List activity',
  description:
    'Lists what the requests of the account did, with its keys and in the console, newest first. A request appears about a second after its response.',
  query: parameters,
  checkQuery: check,
  answers: { 200: jsonAnswer('A page of activities.', activityPage) },
  run: async ({ replica }, { caller, query }) => {
    const { accountId } = caller
    const { per_page: limit, from, to, key_id: keyId, operation, cursor } = query
    const filter = { accountId, ...momentsOf({ from, to }), keyId, operation }
    const found = await listActivities(replica.asOf(caller), filter, {
      limit: limit + 1,
      before: positionAfter(cursor),
    })
    return { status: 200, body: cursorPage(found, limit, positionOf) }
  },
})

/** Entries of one read of an export. */
const exportedAtOnce = 500
/** Longest time of an export. */
const exportMs = 900_000

/** Lines of all entries, a page at a time, each read once the client has taken the one before. */
const exportLines = (database: Sql, filter: ActivityFilter, isAuthorized: () => Promise<boolean>): EventTexts =>
  async function* exportTexts(gone) {
    let before: ReturnType<typeof positionOf> | undefined
    while (!gone.aborted) {
      if (before && !(await isAuthorized())) throw new AppError('INVALID_API_KEY')
      const found: readonly ActivityEntry[] = await listActivities(database, filter, { limit: exportedAtOnce, before })
      if (found.length > 0) yield found.map((entry) => `${JSON.stringify(entry)}\n`).join('')
      const last = found.at(-1)
      if (!last || found.length < exportedAtOnce) return
      before = positionOf(last)
    }
  }

/** Exports what the requests of the account did as JSON lines. */
export const exportActivity = forCaller({
  name: 'activity_export',
  method: 'GET',
  path: '/account/activity/export',
  scopes: ['read'],
  tag: 'Account',
  summary: 'Export activity',
  description:
    'Returns what the requests of the account did since `from` as JSON lines, an entry in each, newest first. The response is streamed; one that breaks off is incomplete and its connection ends with an error. It counts as an event stream of the account, and lasts at most 15 minutes.',
  query: exportParameters,
  checkQuery: checkFilters,
  answers: { 200: linesAnswer('The activities.', activityEntry) },
  run: async (context, request) => {
    const { query, caller } = request
    const { accountId } = caller
    const { replica, now } = context
    const { from, to = now().toISOString(), key_id: keyId, operation } = query
    const filter = { accountId, ...momentsOf({ from, to }), keyId, operation }
    const stream = takeStream(context, accountId)
    const body = eventStream(
      exportLines(replica.asOf(caller), filter, recheck(context, request, accountId)),
      exportMs,
      () => stream[Symbol.dispose](),
    )
    const headers = {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="activity.ndjson"',
      'cache-control': 'no-store',
    }
    return { status: 200, headers, body }
  },
})
