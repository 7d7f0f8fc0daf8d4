import type { Database } from '#shared/db/connection.ts'

/** Statements end after ten seconds, so rows are made in parts. */
const partRows = 50_000

/** Rows of ended captures, evenly over accounts; they ended between the two ages in days. */
export type Filling = {
  readonly accountIds: readonly string[]
  readonly rows: number
  readonly newestDays: number
  readonly oldestDays: number
}

const insert = `
  insert into capture (id, account_id, pool, lane, status, attempts, url, options, token_hash, budget_ms, period, charge,
    retention_seconds, created_at, started_at, completed_at, expires_at, object_key, file_size, sha256, mime_type, width,
    height, processing_time_ms, target_status, final_url, warnings, timings)
  select gen_random_uuid(), ($1::uuid[])[1 + n % cardinality($1::uuid[])], 'standard', 'normal', 'completed', 1,
    'https://example.com/' || n, '{"width":1280,"height":800,"format":"png"}', sha256('x'), 50000, at::date, 'settled',
    3600, at, at, at, at + interval '1 hour', 'captures/filled/' || n, 123456, repeat('ab', 32), 'image/png', 1280,
    800, 900, 200, 'https://example.com/' || n, '[]', '{"queue":5,"navigate":300,"total":900}'
  from (select n, now() - make_interval(secs => $4::float8 + ($5::float8 - $4) * n / $6) as at
          from generate_series($2::bigint, $3::bigint) as n) as numbered`

const count = `
  insert into capture_count as c (account_id, day, completed)
  select account_id, (created_at at time zone 'utc')::date, count(*) from capture where status = 'completed' group by 1, 2
  on conflict (account_id, day) do update set completed = excluded.completed`

const daySeconds = 86_400

/** Puts rows of ended captures into the database as if they had been captured, and counts them. */
export const fillCaptures = async (database: Database, filling: Filling): Promise<void> => {
  const { accountIds, rows, newestDays, oldestDays } = filling
  for (let from = 0; from < rows; from += partRows) {
    const to = Math.min(from + partRows, rows) - 1
    const ages = [newestDays * daySeconds, oldestDays * daySeconds, rows]
    await database.query(insert, [accountIds, from, to, ...ages])
  }
  await database.transaction(async (sql) => {
    await sql.query('set local statement_timeout = 0')
    await sql.query(count)
    await sql.query('analyze capture')
  })
}
