import { perPageMax } from '#gateway/http/input.ts'
import { linkMinutesMax } from '#gateway/links/links.ts'
import { address, count, moment, orNull, text } from '#gateway/openapi/fields.ts'
import { components, inEnvelope, list, object, typed, type TypeOf } from '#gateway/openapi/json-schema.ts'
import { exampleIds } from './example-values.ts'
import { screenshot } from './records.ts'

const path = 'https://shots.example.com/v1/screenshots'

const page = object({
  data: list(screenshot, perPageMax, 'The newest first.'),
  links: object({
    first: [address('The first page.'), `${path}?page=1`],
    last: [orNull(address('The last page; null where no number reaches it.')), `${path}?page=1`],
    prev: [orNull(address('The page with newer ones; null at the beginning.')), null],
    next: [orNull(address('The page with older ones; null at the end.')), null],
  }),
  meta: object(
    {
      current_page: [orNull(count('Number of this page; null where it comes from a cursor.', 1)), 1],
      from: [orNull(count('Place of its first screenshot in the whole list, from 1.', 1)), 1],
      last_page: [count('Number of the last page.', 1), 1],
      path: [address('Address of the list.'), path],
      per_page: [count('Screenshots of a page.', 1), 20],
      to: [orNull(count('Place of its last screenshot in the whole list.', 1)), 1],
      total: [count('Screenshots that fit the filters; exact up to 10,000.'), 1],
      next_cursor: [orNull(text('`cursor` of the next page; null at the end.')), null],
    },
    {
      total_estimated: typed<true>({ type: 'boolean', const: true, description: 'There where `total` is not exact.' }),
    },
  ),
})

const minutes = {
  type: 'integer',
  minimum: 0,
  maximum: linkMinutesMax,
  description: 'Minutes; 0 for a permanent link.',
}

const signedUrl = object({
  url: [
    address('The image, for whoever has this link.'),
    `${path}/${exampleIds.screenshot}/image?expires=1772361000&kid=k1&signature=${'ab'.repeat(32)}`,
  ],
  expires_at: [orNull(moment('When the link ends; null for a permanent one.')), '2026-03-01T10:30:00.000000Z'],
  expires_in: [typed<number>(minutes), 60],
})

/** A page of the list in responses. */
export type ScreenshotPage = TypeOf<typeof page>

/** Components of the list and of signed links. */
export const captureComponents = components({ ScreenshotPage: page, SignedUrlAnswer: inEnvelope(signedUrl) })
