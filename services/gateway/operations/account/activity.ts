import type { Static } from 'typebox'
import type { ErrorCollector } from '#shared/capture/validation-errors.ts'
import { isId } from '#shared/db/is-id.ts'
import { line, object, optional, text } from '#shared/schema/fields.ts'
import { listActivities } from '#gateway/db/activity.ts'
import { readCursor, writeCursor } from '#gateway/http/cursor.ts'
import { type CheckInput, perPageParameter } from '#gateway/http/input.ts'
import { readMoment } from '#gateway/http/read-moment.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { type ActivityEntry, activityPage } from '#gateway/records/activity.ts'

const parameters = object({
  per_page: perPageParameter('Number of activities per page.'),
  ...optional({
    from: text('Only activities on or after this date or date-time.'),
    to: text('Only activities on or before this date or date-time.'),
    key_id: text('Only activities of this API key.'),
    operation: line(1, 100, { description: 'Only activities of this operation, by its `operationId`.' }),
    cursor: text('`meta.next_cursor` of an earlier page.'),
  }),
})
type Parameters = Static<typeof parameters>

const checkMoments = ({ from, to }: Parameters, { report }: ErrorCollector) => {
  for (const [name, date] of Object.entries({ from, to })) {
    if (date !== undefined && readMoment(date, 'first') === undefined) {
      report(name, 'must be an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T12:00:00Z')
    }
  }
}

const check: CheckInput<Parameters> = (values, errors) => {
  checkMoments(values, errors)
  const { key_id: keyId, cursor } = values
  if (keyId !== undefined && !isId(keyId)) errors.report('key_id', 'must be the id of a key')
  if (cursor !== undefined && readCursor(cursor)?.direction !== 'older') {
    errors.report('cursor', 'must be the next_cursor of an earlier answer')
  }
}

/** Body of a page, with the cursor of the next one. `found` contains up to `limit + 1` activities, to detect a next page. */
const pageBody = (found: readonly ActivityEntry[], limit: number) => {
  const data = found.slice(0, limit)
  const last = found.length > limit ? data.at(-1) : undefined
  const cursor = last && writeCursor({ direction: 'older', position: { createdAt: last.at, id: last.id } })
  return { data, meta: { per_page: limit, next_cursor: cursor ?? null } }
}

/** Lists what the requests of the account did. */
export const listActivity = forCaller({
  name: 'activity',
  method: 'GET',
  path: '/account/activity',
  tag: 'Account',
  summary: 'List activity',
  description:
    'Lists what the requests of the account did, with its keys and in the console, newest first. A request appears about a second after its response.',
  query: parameters,
  checkQuery: check,
  answers: { 200: jsonAnswer('A page of activities.', activityPage) },
  run: async ({ database }, { caller: { accountId }, query }) => {
    const { per_page: limit, from, to, key_id: keyId, operation, cursor } = query
    const moment = (date: string | undefined, side: 'first' | 'last') => date && readMoment(date, side)
    const filter = { accountId, from: moment(from, 'first'), to: moment(to, 'last'), keyId, operation }
    const before = cursor === undefined ? undefined : readCursor(cursor)?.position
    const found = await listActivities(database, filter, { limit: limit + 1, before })
    return { status: 200, body: pageBody(found, limit) }
  },
})
