import type { Status } from '#shared/capture/status.ts'
import { onlyRow, type Sql } from '#shared/db/connection.ts'
import { captureColumns, type FoundCapture } from '#shared/db/find-capture.ts'

/** Filter of a list. Times are ISO 8601 UTC with microseconds, both inclusive, on `created_at`. */
export type CaptureFilter = {
  readonly accountId: string
  readonly status?: Status | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Position of a capture in the list of its account, newest first. */
export type CapturePosition = Pick<FoundCapture, 'createdAt' | 'id'>

/** Start of a page: after the `skip` newest captures, or next to a position, exclusive. */
export type PageStart =
  | { readonly skip: number }
  | { readonly direction: 'older' | 'newer'; readonly position: CapturePosition }

/** One page, newest first. */
export type CapturePage = {
  readonly captures: readonly FoundCapture[]
  readonly hasOlder: boolean
  readonly hasNewer: boolean
  /** Number of captures that match the filter; estimated above `countedMax`. */
  readonly total: number
  readonly totalIsEstimated: boolean
}

/** Maximum of matches that are counted exactly; above it, the counts per day give an estimate. */
export const countedMax = 10_000

type Row = {
  readonly captures: readonly FoundCapture[]
  /** Whether there are captures on the other side of the start of the page. */
  readonly hasOpposite: boolean
  readonly counted: number | null
  readonly estimate: number
}

/** Collects the parameters of a statement; `add` returns the placeholder. */
const bindings = () => {
  const values: unknown[] = []
  return { values, add: (value: unknown) => `$${values.push(value)}` }
}

/** The status is part of the text, so that the planner leaves out the partitions whose captures have another one. */
const conditions = ({ accountId, status, from, to }: CaptureFilter, add: (value: unknown) => string): string =>
  [
    `account_id = ${add(accountId)}`,
    ...(status === undefined ? [] : [`status = '${status}'`]),
    ...(from === undefined ? [] : [`created_at >= ${add(from)}::timestamptz`]),
    ...(to === undefined ? [] : [`created_at <= ${add(to)}::timestamptz`]),
  ].join(' and ')

/** `touched`: count of all days that overlap the range; `certain`: of those entirely in it. Days are UTC. */
const countByDay = ({ accountId, status, from, to }: CaptureFilter, add: (value: unknown) => string): string => {
  const ended = { completed: 'completed', failed: 'failed', pending: '0', processing: '0' } as const
  const counted = status === undefined ? 'completed + failed' : ended[status]
  const start = from === undefined ? undefined : `${add(from)}::timestamptz at time zone 'utc'`
  const end = to === undefined ? undefined : `${add(to)}::timestamptz at time zone 'utc'`
  const touched = [
    `account_id = ${add(accountId)}`,
    ...(start === undefined ? [] : [`day >= (${start})::date`]),
    ...(end === undefined ? [] : [`day <= (${end})::date`]),
  ]
  const whole = [
    'true',
    ...(start === undefined ? [] : [`day >= ${start}`]),
    ...(end === undefined ? [] : [`day + 1 - interval '1 microsecond' <= ${end}`]),
  ]
  return `select coalesce(sum(${counted}), 0) as touched,
    coalesce(sum(${counted}) filter (where ${whole.join(' and ')}), 0) as certain
    from capture_count where ${touched.join(' and ')}`
}

/** Captures that have not ended, regardless of the range: they are few, and mostly recent. */
const countOpen = ({ accountId, status }: CaptureFilter, add: (value: unknown) => string): string =>
  [
    '0',
    ...(status === undefined || status === 'pending'
      ? [`coalesce((select pending from account_meter where account_id = ${add(accountId)}), 0)`]
      : []),
    ...(status === undefined || status === 'processing'
      ? [`coalesce((select sum(processing) from lane_meter where account_id = ${add(accountId)}), 0)`]
      : []),
  ].join(' + ')

/** SQL for the page's rows plus one more, and for whether captures exist on the side from which the page was reached. */
const pageOf = (filter: CaptureFilter, start: PageStart, limit: number, add: (value: unknown) => string) => {
  const matching = `from capture where ${conditions(filter, add)}`
  const select = `select ${captureColumns} ${matching}`
  const most = `limit ${add(limit + 1)}`
  if ('skip' in start && start.skip === 0) {
    return { rows: `${select} order by created_at desc, id desc ${most}`, hasOpposite: 'false' }
  }
  if ('skip' in start) {
    // Skips index entries only: the skipped rows are not read.
    const ids = `select id ${matching} order by created_at desc, id desc ${most} offset ${add(start.skip)}`
    return { rows: `select ${captureColumns} from capture where id in (${ids})`, hasOpposite: 'true' }
  }
  const position = `(${add(start.position.createdAt)}::timestamptz, ${add(start.position.id)}::uuid)`
  if (start.direction === 'older') {
    const rows = `${select} and (created_at, id) < ${position} order by created_at desc, id desc ${most}`
    return { rows, hasOpposite: `exists (select ${matching} and (created_at, id) >= ${position})` }
  }
  const rows = `${select} and (created_at, id) > ${position} order by created_at, id ${most}`
  return { rows, hasOpposite: `exists (select ${matching} and (created_at, id) <= ${position})` }
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
  const { values, add } = bindings()
  const { rows, hasOpposite } = pageOf(filter, start, limit, add)
  const statement = `with page as (${rows}), days as (${countByDay(filter, add)})
    select (select coalesce(json_agg(page order by "createdAt" desc, id desc), '[]') from page) as captures,
      ${hasOpposite} as "hasOpposite",
      case when certain <= ${countedMax} then (
        select count(*) from (select from capture where ${conditions(filter, add)} limit ${countedMax + 1}) as matching
      )::integer end as counted,
      (touched + ${countOpen(filter, add)})::float8 as estimate
    from days`
  const row = onlyRow(await database.query<Row>(statement, values))
  const hasMore = row.captures.length > limit
  const isNewer = 'direction' in start && start.direction === 'newer'
  const totalIsEstimated = row.counted === null || row.counted > countedMax
  return {
    captures: isNewer ? row.captures.slice(-limit) : row.captures.slice(0, limit),
    hasOlder: isNewer ? row.hasOpposite : hasMore,
    hasNewer: isNewer ? hasMore : row.hasOpposite,
    total: row.counted !== null && !totalIsEstimated ? row.counted : Math.max(countedMax + 1, row.estimate),
    totalIsEstimated,
  }
}
