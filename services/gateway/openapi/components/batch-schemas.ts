import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import { statuses } from '#shared/capture/status.ts'
import { linkMinutesMax } from '#gateway/links/links.ts'
import {
  address,
  closed,
  count,
  type Fields,
  id,
  inEnvelope,
  moment,
  orNull,
  schemaRef,
  text,
  word,
} from '#gateway/openapi/json-schema.ts'

/** A batch, and a page of the list of screenshots. */
export const batchSchemas: Fields = {
  BatchMember: closed({
    index: count('Place of its URL in the request, from 0.'),
    id: id('Id of the screenshot.'),
    status: word(statuses, 'State of the screenshot.'),
    url: orNull(text('Source address, its password masked.')),
    options: { anyOf: [schemaRef('ScreenshotOptions'), schemaRef('CompletedScreenshotOptions')] },
    created_at: moment('When it was accepted.'),
  }),
  Batch: closed({
    id: id('Id of the batch.'),
    status: word(
      ['pending', 'processing', 'completed'],
      '`pending`: none has begun. `completed`: all have ended, some may have failed.',
    ),
    total: count('Screenshots of the batch, deleted ones included.', 1),
    pending: count('How many wait.'),
    processing: count('How many run.'),
    completed: count('How many completed.'),
    failed: count('How many failed.'),
    created_at: moment('When it was accepted.'),
    screenshots: {
      type: 'array',
      maxItems: urlsMax,
      items: schemaRef('BatchMember'),
      description: 'Those that were not deleted, in the order of the request.',
    },
  }),
  BatchAnswer: inEnvelope(schemaRef('Batch')),
  ScreenshotPage: closed({
    data: { type: 'array', maxItems: 100, items: schemaRef('Screenshot'), description: 'The newest first.' },
    links: closed({
      first: address('The first page.'),
      last: orNull(address('The last page; null where no number reaches it.')),
      prev: orNull(address('The page with newer ones; null at the beginning.')),
      next: orNull(address('The page with older ones; null at the end.')),
    }),
    meta: closed(
      {
        current_page: orNull(count('Number of this page; null where it comes from a cursor.', 1)),
        from: orNull(count('Place of its first screenshot in the whole list, from 1.', 1)),
        last_page: count('Number of the last page.', 1),
        path: address('Address of the list.'),
        per_page: count('Screenshots of a page.', 1),
        to: orNull(count('Place of its last screenshot in the whole list.', 1)),
        total: count('Screenshots that fit the filters; exact up to 10,000.'),
        next_cursor: orNull(text('`cursor` of the next page; null at the end.')),
      },
      { total_estimated: { type: 'boolean', const: true, description: 'There where `total` is not exact.' } },
    ),
  }),
  SignedUrlAnswer: inEnvelope(
    closed({
      url: address('The image, for whoever has this link.'),
      expires_at: orNull(moment('When the link ends; null for a permanent one.')),
      expires_in: {
        type: 'integer',
        minimum: 0,
        maximum: linkMinutesMax,
        description: 'Minutes; 0 for a permanent link.',
      },
    }),
  ),
}
