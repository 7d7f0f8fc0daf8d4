import type { Static } from 'typebox'
import { enumSchema, integer, line, object, optional, text, typed } from '#shared/schema/fields.ts'
import { screenshotPage, type ScreenshotPage } from '#gateway/records/capture-page.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { countedMax, listCaptures } from '#gateway/db/list-captures.ts'
import { type CaptureSearch, openedMax, searchCaptures, type SearchPage } from '#gateway/db/search-captures.ts'
import { imageFormats } from '#shared/capture/parameters/kinds.ts'
import { isId } from '#shared/db/is-id.ts'
import { captureErrorCodes } from '#shared/errors/catalog.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { toRecord } from '#shared/db/record.ts'
import { type Cursor, readCursor, writeCursor } from '#gateway/http/cursor.ts'
import type { ErrorCollector } from '#shared/capture/validation-errors.ts'
import { type Status, statuses } from '#shared/capture/status.ts'
import { type CheckInput, perPageParameter, perPageDefault, type ReadQuery } from '#gateway/http/input.ts'
import { checkRange, momentsOf } from '#gateway/http/time-range.ts'

/** Parameters that all pages of a list share. */
const filters = {
  status: enumSchema(statuses, 'Only screenshots with this status.'),
  from: text('Only screenshots created on or after this date or date-time.'),
  to: text('Only screenshots created on or before this date or date-time.'),
}

/** Parameters by which one screenshot among many is found. */
const searches = {
  host: line(1, 253, {
    description: 'Only screenshots of this host, with its port if the URL names one that is not the default.',
    example: 'example.com',
  }),
  url: line(1, 2048, {
    description: `Only screenshots whose URL begins so. Needs scheme and host at least, and \`cursor\` instead of \`page\`. Paths are stored encrypted, so for each page the ${openedMax.toLocaleString('en')} latest screenshots of the host are read: a page may have few entries, or none, and yet a next one.`,
    example: 'https://example.com/shop',
  }),
  error_code: enumSchema(captureErrorCodes, 'Only screenshots that failed with this code.'),
  key_id: text('Only screenshots that were requested with this API key.'),
  format: enumSchema([...imageFormats, 'pdf'], 'Only screenshots of this format.'),
  request_id: line(1, 64, { description: 'Only screenshots of the request with this `X-Request-Id`.' }),
  target_status: integer(100, 599, 'Only screenshots of pages that responded with this HTTP status.'),
}

/** Parameters of the list. The number of pages that `page` can reach depends on `per_page`. */
export const listParameters = object({
  ...optional({
    page: typed<number>({
      type: 'integer',
      minimum: 1,
      expected: 'a whole number from 1',
      description: 'Page number. The page must begin within the first 10,000 screenshots; use `cursor` to go further.',
      documented: { maximum: countedMax, default: 1 },
    }),
  }),
  per_page: perPageParameter('Number of screenshots per page.'),
  ...optional({
    ...filters,
    ...searches,
    cursor: text('`meta.next_cursor` of an earlier page. Cannot be combined with `page`.'),
  }),
})

/** A request for a page of the list. Times are ISO 8601 UTC with microseconds, inclusive. */
export type ListQuery = {
  readonly status: Status | undefined
  readonly from: string | undefined
  readonly to: string | undefined
  /** Absent: none of its parameters is given. */
  readonly search: CaptureSearch | undefined
  readonly perPage: number
  /** The page by number, from 1, or by cursor. */
  readonly at: { readonly page: number } | Cursor
  /** Parameters for the links to other pages, as given. */
  readonly linkParameters: Readonly<Record<string, string>>
}

/** Whether a page starts within the first `countedMax` captures, so that it may be requested by number. */
const isReachable = (page: number, size: number): boolean => (page - 1) * size < countedMax

type ListParameters = Static<typeof listParameters>

const checkPage = ({ page = 1, ...parameters }: ListParameters, errors: ErrorCollector) => {
  const size = errors.hasErrorWithin('per_page') ? perPageDefault : parameters.per_page
  if (errors.hasErrorWithin('page') || isReachable(page, size)) return
  const last = Math.ceil(countedMax / size)
  errors.report('page', `must be at most ${last} with ${size} per page; use cursor to go further`)
}

const hostOf = (host: string) => URL.parse(`http://${host}`)?.host

const checkSearch = ({ host, url, key_id: keyId, page }: ListParameters, errors: ErrorCollector) => {
  if (keyId !== undefined && !isId(keyId)) errors.report('key_id', 'must be the id of a key')
  if (host !== undefined && (/[/?#@\\]/.test(host) || !hostOf(host)))
    errors.report('host', 'must be a host, such as example.com or example.com:8443')
  if (url === undefined) return
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    errors.report('url', 'must be the beginning of a URL with its scheme and host, such as https://example.com/shop')
  if (page !== undefined && page > 1) errors.report('page', 'must be 1 together with url; use cursor')
}

/** The search as the database knows it; undefined without a parameter of it. */
const searchOf = (values: ListParameters): CaptureSearch | undefined => {
  const given = Object.entries(values).filter(([name]) => name in searches)
  if (given.length === 0) return undefined
  const { host, url, ...search } = Object.fromEntries(given) as CaptureSearch
  return { ...search, ...(host && { host: hostOf(host) }), ...(url && { url }) }
}

/** Reports invalid times and cursors, a range that ends before it begins, and a page number out of reach. */
export const checkList: CheckInput<ListParameters> = (parameters, errors) => {
  checkRange(parameters, errors)
  checkSearch(parameters, errors)
  if (parameters.cursor === undefined) return checkPage(parameters, errors)
  if (parameters.page !== undefined) errors.report('cursor', 'must not be given together with page')
  if (readCursor(parameters.cursor) === undefined) errors.report('cursor', 'is not a valid cursor')
}

/** Converts parameters that `checkList` has validated. */
export const toListQuery = ({ values, rawQuery }: ReadQuery<ListParameters>): ListQuery => {
  const { status, from, to, page = 1, cursor } = values
  return {
    status,
    ...momentsOf({ from, to }),
    search: searchOf(values),
    perPage: values.per_page,
    at: (cursor === undefined ? undefined : readCursor(cursor)) ?? { page },
    linkParameters: Object.fromEntries(
      ['per_page', ...Object.keys({ ...filters, ...searches })].flatMap((name) => {
        const value = rawQuery[name]
        return value === undefined ? [] : [[name, value]]
      }),
    ),
  }
}

type Target = { readonly page: number } | { readonly cursor: string }

const cursorAt = (direction: Cursor['direction'], capture: FoundCapture | undefined) =>
  capture && writeCursor({ direction, position: capture })

/** Targets of the previous and next page; undefined at the ends. Pages out of reach by number are linked by cursor. */
const adjacentPages = ({ at, perPage, search }: ListQuery, page: SearchPage, lastPage: number) => {
  const older = page.hasOlder ? cursorAt('older', page.lastOpened ?? page.captures.at(-1)) : undefined
  const newer = page.hasNewer ? cursorAt('newer', page.captures[0]) : undefined
  const asTarget = (cursor: string | undefined): Target | undefined => (cursor === undefined ? undefined : { cursor })
  if (!('page' in at)) return { older, prev: asTarget(newer), next: asTarget(older) }
  const prev: Target | undefined = at.page > 1 ? { page: Math.min(at.page - 1, lastPage) } : undefined
  const isByUrl = search?.url !== undefined
  const next = !isByUrl && page.hasOlder && isReachable(at.page + 1, perPage) ? { page: at.page + 1 } : asTarget(older)
  return { older, prev, next }
}

/** Positions of a numbered page's first and last capture in the whole list, from 1. Null for a page by cursor. */
const positionsOf = ({ at, perPage }: ListQuery, { captures }: SearchPage) => {
  if (!('page' in at)) return { page: null, from: null, to: null }
  if (captures.length === 0) return { page: at.page, from: null, to: null }
  const skipped = (at.page - 1) * perPage
  return { page: at.page, from: skipped + 1, to: skipped + captures.length }
}

/** The contract's body of a list page. Its links are based on the public URL and keep the request's parameters. */
export const pageBody = (listQuery: ListQuery, page: SearchPage, publicUrl: string): ScreenshotPage => {
  const path = `${publicUrl}/v1/screenshots`
  const link = (target: Target) => {
    const parameters = 'page' in target ? { page: String(target.page) } : target
    return `${path}?${new URLSearchParams({ ...listQuery.linkParameters, ...parameters }).toString()}`
  }
  const lastPage = Math.max(1, Math.ceil(page.total / listQuery.perPage))
  const { older, prev, next } = adjacentPages(listQuery, page, lastPage)
  const positions = positionsOf(listQuery, page)
  return {
    data: page.captures.map((capture) => toRecord(capture, publicUrl)),
    links: {
      first: link({ page: 1 }),
      last:
        listQuery.search?.url === undefined && isReachable(lastPage, listQuery.perPage)
          ? link({ page: lastPage })
          : null,
      prev: prev ? link(prev) : null,
      next: next ? link(next) : null,
    },
    meta: {
      current_page: positions.page,
      from: positions.from,
      last_page: lastPage,
      path,
      per_page: listQuery.perPage,
      to: positions.to,
      total: page.total,
      next_cursor: older ?? null,
      ...(page.totalIsEstimated && { total_estimated: true }),
    },
  }
}

/** Lists the caller's captures by page, newest first. */
export const listScreenshots = forCaller({
  name: 'list',
  method: 'GET',
  path: '/screenshots',
  scopes: ['read'],
  tag: 'Screenshots',
  summary: 'List screenshots',
  description: 'Lists the screenshots of the account, newest first, by page number or by cursor.',
  query: listParameters,
  checkQuery: checkList,
  answers: { 200: jsonAnswer('A page of screenshots.', screenshotPage) },
  run: async (context, { caller, query: values, rawQuery }) => {
    const { accountId } = caller
    const listQuery = toListQuery({ values, rawQuery })
    const { at, status, from, to, perPage: limit, search } = listQuery
    const start = 'page' in at ? { skip: (at.page - 1) * limit } : at
    const filter = { accountId, status, from, to }
    const database = context.replica.asOf(caller)
    if (search) {
      const found = await searchCaptures({ ...context, database }, { ...filter, search }, { start, limit })
      return { status: 200, body: pageBody(listQuery, found, context.publicUrl()) }
    }
    const page = await listCaptures(database, filter, { start, limit })
    const captures = page.captures.map((each) => context.records.openCapture(each))
    return { status: 200, body: pageBody(listQuery, { ...page, captures }, context.publicUrl()) }
  },
})
