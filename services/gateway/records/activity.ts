import type { Static } from 'typebox'
import { component, count, id, list, object, orNull, text, timestamp } from '#shared/schema/fields.ts'
import { perPageMax } from './envelope.ts'
import { exampleIds, exampleTimes } from './example-values.ts'

/** An activity in responses. */
export const activityEntry = component('ActivityEntry', {
  id: id('Id of the entry.', exampleIds.delivery),
  at: timestamp('Time of the response.', exampleTimes.created),
  key_id: orNull(
    id('Id of the API key that identified the request; null for a session of the console.', exampleIds.key),
  ),
  session_id: orNull(id('Id of the session of the console that identified the request.', exampleIds.key)),
  client: text("IPv4 address, or IPv6 /64, of the request's client.", { example: '203.0.113.7' }),
  operation: text('`operationId` of the request, as in the OpenAPI document.', { example: 'capture_post' }),
  object_id: orNull(
    id('Id in the path, or of the screenshot that the request created; null if there is none.', exampleIds.screenshot),
  ),
  status: count('HTTP status of the response.', { minimum: 100, example: 200 }),
  code: orNull(text('Code of the error; null if the request succeeded.')),
})

/** See `activityEntry`. */
export type ActivityEntry = Static<typeof activityEntry>

/** Body of a page of activities. */
export const activityPage = component('ActivityPage', {
  data: list(activityEntry, perPageMax, 'Activities, newest first.'),
  meta: object({
    per_page: count('Number of activities per page.', { minimum: 1, example: 20 }),
    next_cursor: orNull(text('`cursor` of the next page; null on the last page.')),
  }),
})
