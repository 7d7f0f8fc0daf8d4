import { perPageMax } from '#gateway/http/input.ts'
import { linkMinutesMax } from '#gateway/links/links.ts'
import { address, count, moment, orNull, text } from '#gateway/openapi/fields.ts'
import { components, inEnvelope, list, object, typed, type TypeOf } from '#gateway/openapi/json-schema.ts'
import { exampleIds } from './example-values.ts'
import { screenshot } from './records.ts'

const path = 'https://shots.example.com/v1/screenshots'

const page = object({
  data: list(screenshot, perPageMax, 'Screenshots, newest first.'),
  links: object({
    first: [address('URL of the first page.'), `${path}?page=1`],
    last: [orNull(address('URL of the last page; null if it cannot be reached by page number.')), `${path}?page=1`],
    prev: [orNull(address('URL of the page with newer screenshots; null on the first page.')), null],
    next: [orNull(address('URL of the page with older screenshots; null on the last page.')), null],
  }),
  meta: object(
    {
      current_page: [orNull(count('Number of this page; null if it was requested by cursor.', 1)), 1],
      from: [orNull(count('Position of its first screenshot, from 1; null on an empty page or with `cursor`.', 1)), 1],
      last_page: [count('Number of the last page.', 1), 1],
      path: [address('URL of the list.'), path],
      per_page: [count('Number of screenshots per page.', 1), 20],
      to: [orNull(count('Position of its last screenshot, from 1; null on an empty page or with `cursor`.', 1)), 1],
      total: [count('Number of screenshots that match the filters; exact up to 10,000.'), 1],
      next_cursor: [orNull(text('`cursor` of the next page; null on the last page.')), null],
    },
    {
      total_estimated: typed<true>({ type: 'boolean', const: true, description: 'Present if `total` is not exact.' }),
    },
  ),
})

const minutes = {
  type: 'integer',
  minimum: 0,
  maximum: linkMinutesMax,
  description: 'Minutes for which the link is valid; 0 for a permanent link.',
}

const signedUrl = object({
  url: [
    address('Link to the image, usable by anyone who has it.'),
    `${path}/${exampleIds.screenshot}/image?expires=1772361000&kid=k1&signature=${'ab'.repeat(32)}`,
  ],
  expires_at: [
    orNull(moment('Time at which the link expires; null for a permanent link.')),
    '2026-03-01T10:30:00.000000Z',
  ],
  expires_in: [typed<number>(minutes), 60],
})

/** A page of the list in responses. */
export type ScreenshotPage = TypeOf<typeof page>

/** Components of the list and of signed links. */
export const captureComponents = components({ ScreenshotPage: page, SignedUrlAnswer: inEnvelope(signedUrl) })
