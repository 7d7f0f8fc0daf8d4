import type { Screenshot } from '#client/responses.js'

const filterNames = [
  'status',
  'from',
  'to',
  'host',
  'url',
  'error_code',
  'target_status',
  'format',
  'key_id',
  'request_id',
] as const

/** Filters of the list of captures, by their names in the API; `''` is no filter. */
export type Filters = Readonly<Record<(typeof filterNames)[number], string>>

/** No filters. */
export const noFilters = Object.fromEntries(filterNames.map((name) => [name, ''])) as Filters

const patterns: Partial<Record<keyof Filters, RegExp>> = {
  status: /^(?:pending|processing|completed|failed)$/,
  from: /^\d{4}-\d\d-\d\d$/,
  to: /^\d{4}-\d\d-\d\d$/,
}

/** The filters in the query of the list's address; other values are no filter. */
export const filtersIn = (query: string): Filters => {
  const given = new URLSearchParams(query)
  const read = (name: keyof Filters) => {
    const value = given.get(name) ?? ''
    return (patterns[name]?.test(value) ?? true) ? value : ''
  }
  return Object.fromEntries(filterNames.map((name) => [name, read(name)])) as Filters
}

const given = (filters: Filters) => Object.entries(filters).filter(([, value]) => value !== '')

/** The query of the list's address with these filters: the inverse of `filtersIn`. */
export const filterQuery = (filters: Filters): string => new URLSearchParams(given(filters)).toString()

const perPage = 25

/** Midnight of a day in the viewer's zone; the API's own days are those of UTC. */
const midnight = (day: string, days: number): Date => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + days)
}

const lastMoment = (day: string) => new Date(midnight(day, 1).getTime() - 1)

/** Whether a capture is in the list with these filters; undefined if its record does not tell. */
export const isIncluded = (
  { status, created_at }: Pick<Screenshot, 'status' | 'created_at'>,
  { status: filtered, from, to, ...others }: Filters,
): boolean | undefined => {
  const created = new Date(created_at)
  if ((from !== '' && created < midnight(from, 0)) || (to !== '' && created > lastMoment(to))) return false
  if (filtered !== '' && filtered !== status) return false
  return Object.values(others).every((value) => value === '') || undefined
}

/** Path of a page of captures that match; the days begin and end in the viewer's zone. */
export const capturesPath = (filters: Filters, cursor?: string): string => {
  const query = new URLSearchParams({ per_page: String(perPage), ...Object.fromEntries(given(filters)) })
  const { from, to } = filters
  if (from !== '') query.set('from', midnight(from, 0).toISOString())
  if (to !== '') query.set('to', lastMoment(to).toISOString())
  if (cursor !== undefined) query.set('cursor', cursor)
  return `/v1/screenshots?${query}`
}

/** Whether there is any filter. */
export const isFiltered = (filters: Filters): boolean => given(filters).length > 0

/** Whether there is a filter that is only offered on request. */
export const isSearched = ({ status: _status, from: _from, to: _to, ...search }: Filters): boolean =>
  Object.values(search).some((value) => value !== '')
