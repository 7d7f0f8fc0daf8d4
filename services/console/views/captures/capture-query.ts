/** Filters of the list of captures; `''` is no filter. */
export type Filters = { readonly status: string; readonly from: string; readonly to: string }

/** No filters. */
export const noFilters: Filters = { status: '', from: '', to: '' }

const perPage = 25

/** Midnight of a day in the viewer's zone; the API's own days are those of UTC. */
const midnight = (day: string, days: number): Date => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + days)
}

/** Path of a page of captures that match; the days begin and end in the viewer's zone. */
export const capturesPath = ({ status, from, to }: Filters, cursor?: string): string => {
  const query = new URLSearchParams({ per_page: String(perPage) })
  if (status !== '') query.set('status', status)
  if (from !== '') query.set('from', midnight(from, 0).toISOString())
  if (to !== '') query.set('to', new Date(midnight(to, 1).getTime() - 1).toISOString())
  if (cursor !== undefined) query.set('cursor', cursor)
  return `/v1/screenshots?${query}`
}

/** Whether there is any filter. */
export const isFiltered = ({ status, from, to }: Filters): boolean => status !== '' || from !== '' || to !== ''
