import { type Static, Type } from 'typebox'
import type { Faults } from '#shared/capture/faults.ts'
import { type Status, statuses } from '#shared/capture/status.ts'
import { countedMax } from '#gateway/db/list-captures.ts'
import { type Cursor, readCursor } from '#gateway/http/cursor.ts'
import type { CheckInput, ReadQuery } from '#gateway/http/input.ts'
import { readMoment } from '#gateway/http/read-moment.ts'

const perPageUsual = 20

/** Parameters of the list that every page of it has in common. */
const filters = {
  status: Type.Optional(Type.Enum([...statuses], { doc: { description: 'Only those in this state.' } })),
  from: Type.Optional(Type.String({ doc: { description: 'Only those created at this date or date-time or later.' } })),
  to: Type.Optional(Type.String({ doc: { description: 'Only those created at this date or date-time or before.' } })),
}

const perPage = Type.Integer({
  minimum: 1,
  maximum: 100,
  default: perPageUsual,
  doc: { description: 'Screenshots of a page.' },
})

/** Parameters of the list. How many pages have a number depends on `per_page`. */
export const listParameters = Type.Object(
  {
    page: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'a whole number from 1',
        doc: {
          maximum: countedMax,
          default: 1,
          description: 'Number of the page. The first 10,000 screenshots have numbers; `cursor` goes further.',
        },
      }),
    ),
    per_page: perPage,
    ...filters,
    cursor: Type.Optional(
      Type.String({ doc: { description: '`meta.next_cursor` of an earlier page; not together with `page`.' } }),
    ),
  },
  { additionalProperties: false },
)

/** What a list was asked for. Times are ISO 8601 UTC with microseconds, inclusive. */
export type ListQuery = {
  readonly status: Status | undefined
  readonly from: string | undefined
  readonly to: string | undefined
  readonly perPage: number
  /** By number, from 1, or from where a cursor stands. */
  readonly at: { readonly page: number } | Cursor
  /** The parameters of every page of this list, as they were given. */
  readonly kept: Readonly<Record<string, string>>
}

/** Whether the first capture of a page is near enough to be reached by counting. */
export const isReachable = (page: number, size: number): boolean => (page - 1) * size < countedMax

const moment = (text: string | undefined, side: 'first' | 'last') =>
  text === undefined ? undefined : readMoment(text, side)

type Given = Static<typeof listParameters>

const checkRange = (given: Given, { report }: Faults) => {
  const read = (name: 'from' | 'to', side: 'first' | 'last') => {
    const found = moment(given[name], side)
    if (given[name] !== undefined && found === undefined) {
      report(name, 'must be an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T12:00:00Z')
    }
    return found
  }
  const [from, to] = [read('from', 'first'), read('to', 'last')]
  if (from !== undefined && to !== undefined && to < from) report('to', 'must not be before from')
}

const checkPage = ({ page = 1, ...given }: Given, faults: Faults) => {
  const size = faults.has('per_page') ? perPageUsual : given.per_page
  if (faults.has('page') || isReachable(page, size)) return
  const last = Math.ceil(countedMax / size)
  faults.report('page', `must be at most ${last} with ${size} per page; use cursor to go further`)
}

/** Reports moments that are none, a range that ends before it begins, and a page that is not to be reached. */
export const checkList: CheckInput<Given> = (given, faults) => {
  checkRange(given, faults)
  if (given.cursor === undefined) return checkPage(given, faults)
  if (given.page !== undefined) faults.report('cursor', 'must not be given together with page')
  if (readCursor(given.cursor) === undefined) faults.report('cursor', 'is not a valid cursor')
}

/** What a list was asked for, by parameters that `checkList` has found right. */
export const toListQuery = ({ values, given }: ReadQuery<(typeof listParameters)['properties']>): ListQuery => {
  const { status, from, to, page = 1, cursor } = values
  return {
    status,
    from: moment(from, 'first'),
    to: moment(to, 'last'),
    perPage: values.per_page,
    at: (cursor === undefined ? undefined : readCursor(cursor)) ?? { page },
    kept: Object.fromEntries(
      ['per_page', ...Object.keys(filters)].flatMap((name) => {
        const text = given[name]
        return text === undefined ? [] : [[name, text]]
      }),
    ),
  }
}
