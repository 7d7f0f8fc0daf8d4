import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** Captures of one queue within the window. */
export type RecentCount = {
  readonly queue: string
  readonly accepted: number
  readonly completed: number
  readonly failed: number
}

/** Percentiles of a stage's duration over the captures that completed within the window. */
export type RecentStage = { readonly stage: string; readonly p50Ms: number; readonly p95Ms: number }

/** A capture that failed within the last hour. */
export type RecentFailure = {
  readonly id: string
  /** ISO 8601, as in the HTTP interface. */
  readonly at: string
  readonly queue: string
  readonly code: string
  readonly message: string
  readonly url: string | null
}

/** Most rows that one call reads; if a window has more, only its latest are read. */
const acceptedMax = 100_000
const endedMax = 100_000
const timedMax = 2000
const failuresMax = 20

/** The lowest id of captures accepted at `ms` since 1970: ids are UUIDv7, which begin with the time. */
const lowestId = (ms: number): string => {
  const hex = Math.floor(ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

const count = readStatement(import.meta.dirname, 'sql/count-recent.sql')
const timeStages = readStatement(import.meta.dirname, 'sql/time-stages.sql')
const failed = readStatement(import.meta.dirname, 'sql/find-failures.sql')

/** Counts and stage times of the `windowSeconds` before `nowMs`, and the failures of the last hour, latest first; at most 20. */
export const readRecentCaptures = async (
  database: Sql,
  { windowSeconds, nowMs }: { readonly windowSeconds: number; readonly nowMs: number },
) => {
  const since = new Date(nowMs - windowSeconds * 1000)
  const [counts, stages, failures] = await Promise.all([
    database.query<RecentCount>(count, [lowestId(since.getTime()), since, acceptedMax, endedMax]),
    database.query<RecentStage>(timeStages, [since, timedMax]),
    database.query<RecentFailure>(failed, [new Date(nowMs - 3_600_000), timedMax, failuresMax]),
  ])
  return { counts, stages, failures }
}
