import type { Status } from '#shared/capture/status.ts'
import { onlyRow, type Sql } from '#shared/db/connection.ts'
import { captureColumns, type StoredCapture } from '#shared/db/find-capture.ts'

/** Filter of a list. Times are ISO 8601 UTC with microseconds, both inclusive, on `created_at`. */
export type CaptureFilter = {
  readonly accountId: string
  readonly status?: Status | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Position of a capture in the list of its account, newest first. */
export type CapturePosition = Pick<StoredCapture, 'createdAt' | 'id'>

/** Start of a page: after the `skip` newest captures, or next to a position, exclusive. */
export type PageStart =
  | { readonly skip: number }
  | { readonly direction: 'older' | 'newer'; readonly position: CapturePosition }

/** One page, newest first. */
export type CapturePage = {
  readonly captures: readonly StoredCapture[]
  readonly hasOlder: boolean
  readonly hasNewer: boolean
  /** Number of captures that match the filter; estimated above `countedMax`. */
  readonly total: number
  readonly totalIsEstimated: boolean
}

/** Maximum of matches that are counted exactly; above it, the counts per day give an estimate. */
export const countedMax = 10_000

type Row = {
  readonly captures: readonly StoredCapture[]
  /** Whether there are captures on the other side of the start of the page. */
  readonly hasOpposite: boolean
  readonly counted: number | null
  readonly estimate: number
}

/** Ids below and above those of all captures. */
const [leastId, greatestId] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const

/** `touched`: count of all days that overlap the range from $2 to $3; `certain`: of those entirely in it. Days are UTC, and have what has ended. */
const countByDay = (status: Status | undefined) => {
  if (status === 'pending' || status === 'processing') return 'select 0 as touched, 0 as certain'
  return `select coalesce(sum(ended), 0) as touched,
    coalesce(sum(ended) filter (where day >= $2::timestamptz at time zone 'utc'
      and day + 1 - interval '1 microsecond' <= $3::timestamptz at time zone 'utc'), 0) as certain
    from (select day, ${status ?? 'completed + failed'} as ended from capture_count where account_id = $1
      and day >= ($2::timestamptz at time zone 'utc')::date and day <= ($3::timestamptz at time zone 'utc')::date) as counted`
}

/** Captures that have not ended, regardless of the range: they are few, and mostly recent. */
const countOpen = (status: Status | undefined): string =>
  [
    '0',
    ...(status === undefined || status === 'pending'
      ? ['coalesce((select pending from account_meter where account_id = $1), 0)']
      : []),
    ...(status === undefined || status === 'processing'
      ? ['coalesce((select sum(processing) from lane_meter where account_id = $1), 0)']
      : []),
  ].join(' + ')

/** The functions are those of `list-captures.sql`. $4 to $7: the positions between which the page is, $11 to $14: those around the other side of its start, if that is read. */
const statementFor = (status: Status | undefined, readsOpposite: boolean) => {
  const kind = status ?? 'any'
  return `with page as (select ${captureColumns} from list_${kind}($1, $4, $5, $6, $7, $8, $9, $10) as capture),
      days as (${countByDay(status)})
    select (select coalesce(json_agg(page order by "createdAt" desc, id desc), '[]') from page) as captures,
      ${readsOpposite ? `count_${kind}($1, $11, $12, $13, $14, 1) > 0` : 'false'} as "hasOpposite",
      case when certain <= ${countedMax} then
        count_${kind}($1, $2, '${leastId}', $3, '${greatestId}', ${countedMax + 1}) end as counted,
      (touched + ${countOpen(status)})::float8 as estimate
    from days`
}

/** The parameters from $4 on. */
const bindPage = ({ from = '-infinity', to = 'infinity' }: CaptureFilter, start: PageStart, limit: number) => {
  const [least, greatest] = [
    [from, leastId],
    [to, greatestId],
  ] as const
  if ('skip' in start) return [...least, ...greatest, false, start.skip, limit + 1]
  const position = [start.position.createdAt, start.position.id] as const
  return start.direction === 'older'
    ? [...least, ...position, false, 0, limit + 1, ...position, ...greatest]
    : [...position, ...greatest, true, 0, limit + 1, ...least, ...position]
}

/**
 * One page of an account's captures in one round trip, `limit` at most. The cost is bounded by the page, `skip` and
 * `countedMax`. If whole days alone contain more than `countedMax` matches, rows are not counted.
 */
export const listCaptures = async (
  database: Sql,
  filter: CaptureFilter,
  { start, limit }: { readonly start: PageStart; readonly limit: number },
): Promise<CapturePage> => {
  const { accountId, status, from = '-infinity', to = 'infinity' } = filter
  const values = [accountId, from, to, ...bindPage(filter, start, limit)]
  const isBySkip = 'skip' in start
  const row = onlyRow(await database.query<Row>(statementFor(status, !isBySkip), values, 'keep'))
  const hasOpposite = isBySkip ? start.skip > 0 : row.hasOpposite
  const hasMore = row.captures.length > limit
  const isNewer = 'direction' in start && start.direction === 'newer'
  const totalIsEstimated = row.counted === null || row.counted > countedMax
  return {
    captures: isNewer ? row.captures.slice(-limit) : row.captures.slice(0, limit),
    hasOlder: isNewer ? hasOpposite : hasMore,
    hasNewer: isNewer ? hasMore : hasOpposite,
    total: row.counted !== null && !totalIsEstimated ? row.counted : Math.max(countedMax + 1, row.estimate),
    totalIsEstimated,
  }
}
