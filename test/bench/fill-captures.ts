import { openDatabase, type Sql } from '#shared/db/connection.ts'

/** Those that filling would have to maintain in no order: building them afterwards is quicker, and COPY then is not. */
const builtAfterwards = ['capture_ended_list', 'capture_ended_status', 'capture_ended_age', 'capture_ended_object']
/** Longest time of one statement: 20 million rows. */
const statementMs = 3_600_000

/** Rows of ended captures, evenly over accounts; they ended between the two ages in days. */
export type Filling = {
  readonly accountIds: readonly string[]
  readonly rows: number
  readonly newestDays: number
  readonly oldestDays: number
}

/** Oldest first, with ids that are ordered by time, as the gateway's are. */
const insert = `
  with made as (insert into capture (id, account_id, pool, lane, status, attempts, url, options, token_hash, budget_ms, period, charge,
    retention_seconds, created_at, started_at, completed_at, expires_at, object_key, file_size, sha256, mime_type, width,
    height, processing_time_ms, target_status, timings, part)
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 19))::uuid, ($1::uuid[])[1 + n % cardinality($1::uuid[])], 'standard', 'normal', 'completed', 1,
    'https://example.com/' || n, '{"width":1280,"height":800,"format":"png"}', sha256('x'), 50000, at::date, 'settled',
    3600, at, at, at, at + interval '1 hour', 'captures/filled/' || n, 123456, repeat('ab', 32), 'image/png', 1280,
    800, 900, 200, '{"queue":5,"navigate":300,"total":900}', 'ended'
  from (select n, now() - make_interval(secs => $4::float8 - ($4 - $3::float8) * n / $2) as at
          from generate_series(0, $2::bigint - 1) as n) as numbered
  returning account_id, created_at)
  insert into capture_count as c (account_id, day, completed)
  select account_id, (created_at at time zone 'utc')::date, count(*) from made group by 1, 2
  on conflict (account_id, day) do update set completed = c.completed + excluded.completed`

const daySeconds = 86_400

/** Adds partitions of the weeks before today, as an installation of that age has them. */
const addPast = (days: number) => `do $$
  declare
    v_to timestamptz := date_trunc('day', now(), 'utc');
    v_begin constant timestamptz := v_to - ${days} * interval '1 day';
    v_part text;
  begin
    while v_to > v_begin loop
      v_part := 'capture_ended_' || to_char(v_to - interval '1 week', 'YYYYMMDD');
      if to_regclass(v_part) is null then
        execute format('create table %I partition of capture_ended for values from (%L) to (%L)', v_part, least_id(v_to - interval '1 week'),
                       least_id(v_to));
      end if;
      v_to := v_to - interval '1 week';
    end loop;
  end $$`

const insertRows = (database: Sql, { accountIds, rows, newestDays, oldestDays }: Filling) =>
  database.query(insert, [accountIds, rows, newestDays * daySeconds, oldestDays * daySeconds])

/** Puts rows of ended captures into a database that has them all in one table, and vacuums. */
export const fillUnpartitioned = async (database: Sql, filling: Filling): Promise<void> => {
  await insertRows(database, filling)
  await database.query('vacuum analyze capture')
}

/**
 * Puts rows of ended captures into the database as if they had been captured, counts them, and vacuums, so that autovacuum does not
 * run during the measurement. Half a minute and 1 GB of disk for a million.
 */
export const fillCaptures = async ({ url }: { readonly url: string }, filling: Filling): Promise<void> => {
  await using database = openDatabase({ url, poolMax: 2, statementMs })
  const indexes = await database.query<{ name: string; definition: string }>(
    'select name, pg_get_indexdef(name::regclass) as definition from unnest($1::text[]) as name',
    [builtAfterwards],
  )
  await database.query(addPast(filling.oldestDays))
  for (const { name } of indexes) await database.query(`drop index ${name}`)
  await insertRows(database, filling)
  for (const { definition } of indexes) await database.query(definition.replace(' ON ONLY ', ' ON '))
  await database.query('vacuum analyze capture')
}
