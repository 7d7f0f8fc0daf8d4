import type { Faults } from '#shared/capture/faults.ts'
import { type Status, statuses } from '#shared/capture/status.ts'
import { countedMax } from '#shared/db/list-captures.ts'
import { validationError } from '#gateway/http/read-parameters.ts'
import { gatherPlainQuery } from '#gateway/http/read-plain-query.ts'
import { type Cursor, readCursor } from './cursor.ts'
import { readMoment } from './read-moment.ts'

/** Parameters of the list that every page of it has in common, as they were given. */
const keptNames = ['per_page', 'status', 'from', 'to'] as const
const names = [...keptNames, 'page', 'cursor'] as const

type Given = Readonly<Partial<Record<(typeof names)[number], string>>>

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

const perPageFallback = 20
const perPageMax = 100

/** Whether the first capture of a page is near enough to be reached by counting. */
export const isReachable = (page: number, perPage: number): boolean => (page - 1) * perPage < countedMax

const isWhole = (text: string) => /^\d{1,9}$/.test(text) && Number(text) >= 1

const readPerPage = ({ per_page: text }: Given, { report }: Faults): number => {
  if (text === undefined) return perPageFallback
  if (isWhole(text) && Number(text) <= perPageMax) return Number(text)
  report('per_page', `must be a whole number from 1 to ${perPageMax}`)
  return perPageFallback
}

const readStatus = ({ status: text }: Given, { report }: Faults): Status | undefined => {
  const status = statuses.find((each) => each === text)
  if (text !== undefined && status === undefined) report('status', `must be one of ${statuses.join(', ')}`)
  return status
}

const readRange = (given: Given, { report }: Faults) => {
  const read = (name: 'from' | 'to', side: 'first' | 'last') => {
    const text = given[name]
    const moment = text === undefined ? undefined : readMoment(text, side)
    if (text !== undefined && moment === undefined) {
      report(name, 'must be an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T12:00:00Z')
    }
    return moment
  }
  const range = { from: read('from', 'first'), to: read('to', 'last') }
  if (range.from !== undefined && range.to !== undefined && range.to < range.from) {
    report('to', 'must not be before from')
  }
  return range
}

const readPlace = ({ page: text, cursor: opaque }: Given, perPage: number, { report }: Faults): ListQuery['at'] => {
  if (opaque !== undefined) {
    const cursor = readCursor(opaque)
    if (text !== undefined) report('cursor', 'must not be given together with page')
    if (cursor === undefined) report('cursor', 'is not one that a list has given')
    return cursor ?? { page: 1 }
  }
  const page = Number(text ?? 1)
  if (text !== undefined && !isWhole(text)) report('page', 'must be a whole number from 1')
  else if (!isReachable(page, perPage)) {
    const last = Math.ceil(countedMax / perPage)
    report('page', `must be at most ${last} with ${perPage} per page; use cursor to go further`)
  }
  return { page }
}

/** Reads the parameters of a list. Throws `VALIDATION_ERROR` with everything that is wrong with them at once. */
export const readListQuery = (query: string): ListQuery => {
  const { given, faults } = gatherPlainQuery(query, names)
  const perPage = readPerPage(given, faults)
  const asked = {
    status: readStatus(given, faults),
    ...readRange(given, faults),
    perPage,
    at: readPlace(given, perPage, faults),
    kept: Object.fromEntries(
      keptNames.flatMap((name) => {
        const value = given[name]
        return value === undefined ? [] : [[name, value]]
      }),
    ),
  }
  const wrong = faults.all()
  if (wrong) throw validationError(wrong)
  return asked
}
