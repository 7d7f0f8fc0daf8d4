import { setImmediate as pause } from 'node:timers/promises'
import { onlyRow, type Sql } from '#shared/db/connection.ts'
import { captureColumns, type FoundCapture, type StoredCapture } from '#shared/db/find-capture.ts'
import type { RecordSeal } from '#shared/db/record-seal.ts'
import type { CaptureFilter, CapturePage, PageStart } from './list-captures.ts'

/** What support knows of a capture. Each has an index of its own in `0002-captures.sql`. */
export type CaptureSearch = {
  /** As in the URL, with its port if that is not the default. */
  readonly host?: string | undefined
  /** Beginning of the URL from its origin on, as the URL parser writes it. */
  readonly url?: string | undefined
  readonly error_code?: string | undefined
  readonly key_id?: string | undefined
  readonly format?: string | undefined
  readonly request_id?: string | undefined
  readonly target_status?: number | undefined
}

/** Maximum of matches that are counted exactly. */
const foundMax = 1000
/** Captures of an origin that are opened for one page: the path of a URL is sealed, so no index finds it. About 30 ms. */
export const openedMax = 1000
/** Opened without letting others run. */
const openedAtOnce = 100

/** A page of what was found. */
export type SearchPage = Omit<CapturePage, 'captures'> & {
  readonly captures: readonly FoundCapture[]
  /** The last capture that was opened, if the next page begins after it. */
  readonly lastOpened?: FoundCapture | undefined
}

/** The beginning of a URL without what records mask. */
const comparable = (text: string): string => {
  const { origin = '', pathname = '', search = '', hash = '' } = URL.parse(text) ?? {}
  return `${origin}${pathname}${search}${hash}`
}

const columns: Readonly<Record<keyof CaptureSearch, string>> = {
  host: `url is not null and split_part(url, '/', 3)`,
  url: 'url',
  error_code: 'error_code',
  key_id: 'key_id',
  format: `options ->> 'format'`,
  request_id: 'request_id',
  target_status: 'target_status',
}

/** The statement is planned for its values: which index is best depends on how common they are. */
const statementFor = (filter: CaptureFilter, search: CaptureSearch, start: PageStart, limit: number) => {
  const values: unknown[] = []
  const bound = (value: unknown, type = '') => `$${values.push(value)}${type}`
  const { accountId, status, from, to } = filter
  const host = search.url === undefined ? search.host : new URL(search.url).host
  const origin = search.url && new URL(search.url).origin
  const conditions = [
    `account_id = ${bound(accountId)}`,
    ...(status === undefined ? [] : [`status = '${status}'`]),
    ...(from === undefined ? [] : [`created_at >= ${bound(from)}`]),
    ...(to === undefined ? [] : [`created_at <= ${bound(to)}`]),
    ...Object.entries({ ...search, host, url: origin }).flatMap(([name, value]) =>
      value === undefined ? [] : [`${columns[name as keyof CaptureSearch]} = ${bound(value)}`],
    ),
  ].join(' and ')
  const isNewer = 'direction' in start && start.direction === 'newer'
  const beside = (sign: string) =>
    'skip' in start
      ? 'true'
      : `(created_at, id) ${sign} (${bound(start.position.createdAt, '::timestamptz')}, ${bound(start.position.id, '::uuid')})`
  const order = isNewer ? 'created_at, id' : 'created_at desc, id desc'
  const page = `select ${captureColumns} from capture where ${conditions} and ${beside(isNewer ? '>' : '<')}
    order by ${order.replaceAll(/created_at|id/g, 'capture.$&')} offset ${'skip' in start ? bound(start.skip) : 0} limit ${bound(limit)}`
  const opposite = `exists (select from capture where ${conditions} and ${beside(isNewer ? '<=' : '>=')})`
  const text = `with page as (${page})
    select (select coalesce(json_agg(page order by "createdAt" desc, id desc), '[]') from page) as captures,
      ${'skip' in start ? 'false' : opposite} as "hasOpposite",
      (select count(*)::integer from (select from capture where ${conditions} limit ${foundMax + 1}) as found) as counted`
  return { text, values }
}

type Row = { readonly captures: readonly StoredCapture[]; readonly hasOpposite: boolean; readonly counted: number }

/** The first captures whose URL begins so, one more than `limit`, and the last that was opened. */
const openMatching = async (
  rows: readonly StoredCapture[],
  { records, prefix, limit }: { records: Pick<RecordSeal, 'openCapture'>; prefix: string; limit: number },
) => {
  const captures: FoundCapture[] = []
  let lastOpened: FoundCapture | undefined
  for (const [index, row] of rows.entries()) {
    if (index % openedAtOnce === openedAtOnce - 1) await pause()
    lastOpened = records.openCapture(row)
    if (comparable(lastOpened.url ?? '').startsWith(prefix)) captures.push(lastOpened)
    if (captures.length > limit) break
  }
  return { captures, lastOpened }
}

type Found = Row & { readonly limit: number }

/** The page in what was read by indexes alone. */
const pageOf = (
  { captures: rows, hasOpposite, counted, limit }: Found,
  start: PageStart,
  { openCapture }: Pick<RecordSeal, 'openCapture'>,
): SearchPage => {
  const isNewer = 'direction' in start && start.direction === 'newer'
  const hasMore = rows.length > limit
  const hasSkipped = 'skip' in start ? start.skip > 0 : hasOpposite
  return {
    captures: (isNewer ? rows.slice(-limit) : rows.slice(0, limit)).map((row) => openCapture(row)),
    hasOlder: isNewer ? hasSkipped : hasMore,
    hasNewer: isNewer ? hasMore : hasSkipped,
    total: counted,
    totalIsEstimated: counted > foundMax,
  }
}

/**
 * One page of what an account searches for, `limit` at most, newest first. Of captures of `url` at most `openedMax` are opened, so
 * that a page may be shorter than the next one, and is only continued towards older ones.
 */
export const searchCaptures = async (
  { database, records }: { readonly database: Sql; readonly records: Pick<RecordSeal, 'openCapture'> },
  { search, ...filter }: CaptureFilter & { readonly search: CaptureSearch },
  { start, limit }: { readonly start: PageStart; readonly limit: number },
): Promise<SearchPage> => {
  const prefix = search.url === undefined ? undefined : comparable(search.url)
  const isByPath = prefix !== undefined && prefix !== `${new URL(prefix).origin}/`
  const { text, values } = statementFor(filter, search, start, (isByPath ? openedMax : limit) + 1)
  const row = onlyRow(await database.query<Row>(text, values))
  if (!isByPath) return pageOf({ ...row, limit }, start, records)
  const { captures, lastOpened } = await openMatching(row.captures.slice(0, openedMax), { records, prefix, limit })
  const isFull = captures.length > limit
  return {
    captures: captures.slice(0, limit),
    hasOlder: isFull || row.captures.length > openedMax,
    hasNewer: false,
    total: row.counted,
    totalIsEstimated: true,
    ...(!isFull && { lastOpened }),
  }
}
