import type { Screenshot } from '#client/responses.js'

/** Filters of the list of captures; `''` is no filter. */
export type Filters = { readonly status: string; readonly from: string; readonly to: string }

/** No filters. */
export const noFilters: Filters = { status: '', from: '', to: '' }

const patterns: Readonly<Record<keyof Filters, RegExp>> = {
  status: /^(?:pending|processing|completed|failed)$/,
  from: /^\d{4}-\d\d-\d\d$/,
  to: /^\d{4}-\d\d-\d\d$/,
}

/** The filters in the query of the list's address; other values are no filter. */
export const filtersIn = (query: string): Filters => {
  const given = new URLSearchParams(query)
  const read = (name: keyof Filters) => {
    const value = given.get(name) ?? ''
    return patterns[name].test(value) ? value : ''
  }
  return { status: read('status'), from: read('from'), to: read('to') }
}

/** The query of the list's address with these filters: the inverse of `filtersIn`. */
export const filterQuery = (filters: Filters): string =>
  new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString()

const perPage = 25

/** Midnight of a day in the viewer's zone; the API's own days are those of UTC. */
const midnight = (day: string, days: number): Date => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + days)
}

const lastMoment = (day: string) => new Date(midnight(day, 1).getTime() - 1)

/** Whether a capture is in the list with these filters. */
export const isIncluded = (
  { status, created_at }: Pick<Screenshot, 'status' | 'created_at'>,
  filters: Filters,
): boolean => {
  const created = new Date(created_at)
  const isInTime =
    (filters.from === '' || created >= midnight(filters.from, 0)) &&
    (filters.to === '' || created <= lastMoment(filters.to))
  return isInTime && (filters.status === '' || filters.status === status)
}

/** Path of a page of captures that match; the days begin and end in the viewer's zone. */
export const capturesPath = ({ status, from, to }: Filters, cursor?: string): string => {
  const query = new URLSearchParams({ per_page: String(perPage) })
  if (status !== '') query.set('status', status)
  if (from !== '') query.set('from', midnight(from, 0).toISOString())
  if (to !== '') query.set('to', lastMoment(to).toISOString())
  if (cursor !== undefined) query.set('cursor', cursor)
  return `/v1/screenshots?${query}`
}

/** Whether there is any filter. */
export const isFiltered = ({ status, from, to }: Filters): boolean => status !== '' || from !== '' || to !== ''
