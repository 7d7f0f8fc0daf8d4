import type { ErrorCollector } from '#shared/capture/validation-errors.ts'
import { readMoment } from './read-moment.ts'

/** Two dates or date-times of a query, both included. */
type DateRange = { readonly from?: string | undefined; readonly to?: string | undefined }

const read = (date: string | undefined, side: 'first' | 'last') =>
  date === undefined ? undefined : readMoment(date, side)

/** The first and last moment of a range, ISO 8601 UTC with microseconds. */
export const momentsOf = ({ from, to }: DateRange) => ({ from: read(from, 'first'), to: read(to, 'last') })

/** Reports dates that are none, and a range that ends before it begins. */
export const checkRange = (range: DateRange, { report }: Pick<ErrorCollector, 'report'>): void => {
  const { from, to } = momentsOf(range)
  for (const [name, moment] of Object.entries({ from, to }) as ['from' | 'to', string | undefined][]) {
    if (range[name] === undefined || moment !== undefined) continue
    report(name, 'must be an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T12:00:00Z')
  }
  if (from !== undefined && to !== undefined && to < from) report('to', 'must not be before from')
}
