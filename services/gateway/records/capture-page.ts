import type { Static } from 'typebox'
import { component, count, list, object, optional, orNull, text, typed, url } from '#shared/schema/fields.ts'
import { screenshot } from './capture.ts'
import { perPageMax } from './envelope.ts'
import { exampleAddress } from './example-values.ts'

/** A page of the list in responses. */
export const screenshotPage = component('ScreenshotPage', {
  data: list(screenshot, perPageMax, 'Screenshots, newest first.'),
  links: object({
    first: url('URL of the first page.', `${exampleAddress}?page=1`),
    last: orNull(url('URL of the last page; null if no page number reaches it.', `${exampleAddress}?page=1`)),
    prev: orNull(url('URL of the page with newer screenshots; null on the first page.')),
    next: orNull(url('URL of the page with older screenshots; null on the last page.')),
  }),
  meta: object({
    current_page: orNull(count('Number of this page; null if it was requested by cursor.', { minimum: 1, example: 1 })),
    from: orNull(
      count('Position of its first screenshot, from 1; null on an empty page or with `cursor`.', {
        minimum: 1,
        example: 1,
      }),
    ),
    last_page: count('Number of the last page.', { minimum: 1, example: 1 }),
    path: url('URL of the list.', exampleAddress),
    per_page: count('Number of screenshots per page.', { minimum: 1, example: 20 }),
    to: orNull(
      count('Position of its last screenshot, from 1; null on an empty page or with `cursor`.', {
        minimum: 1,
        example: 1,
      }),
    ),
    total: count(
      'Number of screenshots that match the filters; exact up to 10,000, or 1,000 with filters besides status and time. With a path in `url` the number of the host.',
      { example: 1 },
    ),
    next_cursor: orNull(text('`cursor` of the next page; null on the last page.')),
    ...optional({
      total_estimated: typed<true>({ type: 'boolean', const: true, description: 'Present if `total` is not exact.' }),
    }),
  }),
})

/** See `screenshotPage`. */
export type ScreenshotPage = Static<typeof screenshotPage>
