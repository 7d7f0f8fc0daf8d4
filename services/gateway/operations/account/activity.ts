import type { Static } from 'typebox'
import { isId } from '#shared/db/is-id.ts'
import { line, object, optional, text } from '#shared/schema/fields.ts'
import { listActivities } from '#gateway/db/activity.ts'
import { checkNextCursor, cursorPage, positionAfter } from '#gateway/http/cursor-page.ts'
import { type CheckInput, perPageParameter } from '#gateway/http/input.ts'
import { checkRange, momentsOf } from '#gateway/http/time-range.ts'
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

const check: CheckInput<Parameters> = (values, errors) => {
  checkRange(values, errors)
  checkNextCursor(values.cursor, errors)
  if (values.key_id !== undefined && !isId(values.key_id)) errors.report('key_id', 'must be the id of a key')
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
  run: async ({ database }, { caller: { accountId }, query }) => {
    const { per_page: limit, from, to, key_id: keyId, operation, cursor } = query
    const filter = { accountId, ...momentsOf({ from, to }), keyId, operation }
    const found = await listActivities(database, filter, { limit: limit + 1, before: positionAfter(cursor) })
    return { status: 200, body: cursorPage(found, limit, positionOf) }
  },
})
