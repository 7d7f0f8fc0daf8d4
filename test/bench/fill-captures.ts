import { eventually } from '#test/helpers/eventually.ts'
import type { Database } from '#shared/db/connection.ts'

/** Statements end after ten seconds, so rows are made in parts. */
const partRows = 20_000
/** Above this, autovacuum is waited for: vacuuming takes longer than a statement may. */
const quickRows = 100_000
/** The table's `autovacuum_vacuum_insert_scale_factor`: with fewer new rows than this share no further vacuum comes. */
const insertScaleFactor = 0.05
const vacuumMs = 20 * 60_000

/** Rows of ended captures, evenly over accounts; they ended between the two ages in days. */
export type Filling = {
  readonly accountIds: readonly string[]
  readonly rows: number
  readonly newestDays: number
  readonly oldestDays: number
}

/** Ids are ordered by time, as the gateway's are. */
const insert = `
  with made as (insert into capture (id, account_id, pool, lane, status, attempts, url, options, token_hash, budget_ms, period, charge,
    retention_seconds, created_at, started_at, completed_at, expires_at, object_key, file_size, sha256, mime_type, width,
    height, processing_time_ms, target_status, final_url, warnings, timings)
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 19))::uuid, ($1::uuid[])[1 + n % cardinality($1::uuid[])], 'standard', 'normal', 'completed', 1,
    'https://example.com/' || n, '{"width":1280,"height":800,"format":"png"}', sha256('x'), 50000, at::date, 'settled',
    3600, at, at, at, at + interval '1 hour', 'captures/filled/' || n, 123456, repeat('ab', 32), 'image/png', 1280,
    800, 900, 200, 'https://example.com/' || n, '[]', '{"queue":5,"navigate":300,"total":900}'
  from (select n, now() - make_interval(secs => $4::float8 + ($5::float8 - $4) * n / $6) as at
          from generate_series($2::bigint, $3::bigint) as n) as numbered
  returning account_id, created_at)
  insert into capture_count as c (account_id, day, completed)
  select account_id, (created_at at time zone 'utc')::date, count(*) from made group by 1, 2
  on conflict (account_id, day) do update set completed = c.completed + excluded.completed`

const daySeconds = 86_400

const setServer = async (database: Database, settings: readonly string[]) => {
  for (const setting of settings) await database.query(`alter system ${setting}`)
  await database.query('select pg_reload_conf()')
}

const isVacuumed = async (database: Database): Promise<boolean> => {
  const rows = await database.query(
    `select 1 from pg_stat_user_tables where relname = 'capture' and last_autovacuum is not null
       and last_autoanalyze is not null and n_ins_since_vacuum < n_live_tup * $1::float8
       and not exists (select from pg_stat_progress_vacuum)`,
    [insertScaleFactor],
  )
  return rows.length > 0
}

/** Otherwise autovacuum would run during the measurement. */
const awaitVacuum = async (database: Database) => {
  await setServer(database, ["set autovacuum_naptime = '1s'", 'set autovacuum_vacuum_cost_delay = 0'])
  await eventually(() => isVacuumed(database), { withinMs: vacuumMs, what: 'the table is vacuumed' })
  await setServer(database, ['reset autovacuum_naptime', 'reset autovacuum_vacuum_cost_delay'])
}

/** Puts rows of ended captures into the database as if they had been captured, and counts them. */
export const fillCaptures = async (database: Database, filling: Filling): Promise<void> => {
  const { accountIds, rows, newestDays, oldestDays } = filling
  for (let from = 0; from < rows; from += partRows) {
    const to = Math.min(from + partRows, rows) - 1
    const ages = [newestDays * daySeconds, oldestDays * daySeconds, rows]
    await database.query(insert, [accountIds, from, to, ...ages])
  }
  if (rows > quickRows) await awaitVacuum(database)
  else await database.query('vacuum analyze capture')
}
