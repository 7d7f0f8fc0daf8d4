import type { Sql } from '#shared/db/connection.ts'
import { isoTime } from '#shared/db/iso-time.ts'

/** Captures of one queue within the window. */
export type RecentCount = {
  readonly queue: string
  readonly accepted: number
  readonly completed: number
  readonly failed: number
}

/** How long a stage of captures took that completed within the window, in milliseconds. */
export type RecentStage = { readonly stage: string; readonly p50Ms: number; readonly p95Ms: number }

/** A capture that failed within the last hour. */
export type RecentFailure = {
  readonly id: string
  /** In the contract's form. */
  readonly at: string
  readonly queue: string
  readonly code: string
  readonly message: string
  readonly url: string | null
}

/** What became of captures lately. */
export type RecentCaptures = {
  readonly counts: readonly RecentCount[]
  readonly stages: readonly RecentStage[]
  readonly failures: readonly RecentFailure[]
}

/** Bounds of what one call reads, whatever the load: with more in a window, its latest stand for all of it. */
const [acceptedMax, endedMax, timedMax, failuresMax] = [100_000, 100_000, 2000, 20]

/** The lowest id that a capture can have that is accepted at a time in milliseconds since 1970: ids begin with it. */
const lowestId = (ms: number): string => {
  const hex = Math.floor(ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** Reads what became of captures within the last `windowSeconds` before `nowMs`, and the failures of the hour; the latest first. */
export const readRecentCaptures = async (
  database: Sql,
  { windowSeconds, nowMs }: { readonly windowSeconds: number; readonly nowMs: number },
): Promise<RecentCaptures> => {
  const since = new Date(nowMs - windowSeconds * 1000)
  const [counts, stages, failures] = await Promise.all([
    database.query<RecentCount>(
      `with recent as (
         (select pool, 'accepted' as as_what from capture where id >= $1::uuid order by id desc limit $3)
         union all
         (select pool, status from capture where completed_at > $2 order by completed_at desc limit $4))
       select pool as queue,
         count(*) filter (where as_what = 'accepted')::integer as accepted,
         count(*) filter (where as_what = 'completed')::integer as completed,
         count(*) filter (where as_what = 'failed')::integer as failed
       from recent group by pool order by pool`,
      [lowestId(since.getTime()), since, acceptedMax, endedMax],
    ),
    database.query<RecentStage>(
      `select each.key as stage,
         percentile_disc(0.5) within group (order by each.value::float8) as "p50Ms",
         percentile_disc(0.95) within group (order by each.value::float8) as "p95Ms"
       from (select timings from capture where completed_at > $1 and status = 'completed' and not cached
              and json_typeof(timings) = 'object' order by completed_at desc limit $2) as recent,
         json_each_text(recent.timings) as each
       group by each.key`,
      [since, timedMax],
    ),
    database.query<RecentFailure>(
      `select id, ${isoTime('completed_at')} as at, pool as queue, coalesce(error_code, '') as code,
         coalesce(error_message, '') as message, url
       from (select * from capture where completed_at > $1 order by completed_at desc limit $2) as ended
       where status = 'failed' order by completed_at desc limit $3`,
      [new Date(nowMs - 3_600_000), timedMax, failuresMax],
    ),
  ])
  return { counts, stages, failures }
}
