import { url, count, orNull, perPageMax, text } from '#gateway/openapi/schema/fields.ts'
import { components, list, object, typed, type TypeOf } from '#gateway/openapi/schema/json-schema.ts'
import { exampleAddress } from '#gateway/openapi/schema/example-values.ts'
import { screenshot } from './records.ts'

const page = object({
  data: list(screenshot, perPageMax, 'Screenshots, newest first.'),
  links: object({
    first: [url('URL of the first page.'), `${exampleAddress}?page=1`],
    last: [orNull(url('URL of the last page; null if no page number reaches it.')), `${exampleAddress}?page=1`],
    prev: [orNull(url('URL of the page with newer screenshots; null on the first page.')), null],
    next: [orNull(url('URL of the page with older screenshots; null on the last page.')), null],
  }),
  meta: object(
    {
      current_page: [orNull(count('Number of this page; null if it was requested by cursor.', 1)), 1],
      from: [orNull(count('Position of its first screenshot, from 1; null on an empty page or with `cursor`.', 1)), 1],
      last_page: [count('Number of the last page.', 1), 1],
      path: [url('URL of the list.'), exampleAddress],
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

/** A page of the list in responses. */
export type ScreenshotPage = TypeOf<typeof page>

/** Component of the list. */
export const captureComponents = components({ ScreenshotPage: page })
