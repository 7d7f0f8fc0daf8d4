import type { Status } from '#shared/capture/status.ts'
import type { Database } from '#shared/db/connection.ts'

type StoreOptions = {
  readonly accountId: string
  readonly count: number
  readonly status?: Status
  /** Creation time of the first capture, ISO 8601. */
  readonly createdAt?: string
  /** SQL interval between captures. */
  readonly every?: string
}

/** Inserts captures directly into their table, and ended ones into the counts. Returns their ids, oldest first. */
export const storeCaptures = async (database: Database, options: StoreOptions): Promise<string[]> => {
  const { accountId, count, status = 'completed', createdAt = '2026-01-01T00:00:00Z', every = '1 second' } = options
  const rows = await database.query<{ id: string }>(
    `with stored as (
       insert into capture (id, account_id, pool, lane, status, url, options, token_hash, budget_ms, period, retention_seconds,
         created_at, error_code, error_message, completed_at, file_size, mime_type, width, height, processing_time_ms, part)
       select overlay(least_id($3::timestamptz + n * $4::interval)::text placing substr(gen_random_uuid()::text, 15) from 15)::uuid, $1, 'standard', 'normal', $2, 'https://example.com/' || n, '{"format":"png","width":1280,"height":800}', '', 1, '2026-01-01',
         3600, $3::timestamptz + n * $4::interval, case when $2 = 'failed' then 'TIMEOUT' end, case when $2 = 'failed' then 'late' end,
         case when $2 = 'completed' then $3::timestamptz + n * $4::interval end, case when $2 = 'completed' then 1 end,
         case when $2 = 'completed' then 'image/png' end, case when $2 = 'completed' then 1280 end,
         case when $2 = 'completed' then 800 end, case when $2 = 'completed' then 5 end,
         case when $2 in ('completed', 'failed') then 'ended' else 'open' end
         from generate_series(0, $5::integer - 1) as n
       returning id, created_at)
     select id from stored order by created_at, id`,
    [accountId, status, createdAt, every, count],
  )
  const ids = rows.map(({ id }) => id)
  await database.query('select count_ended(array(select c from capture c where c.id = any ($1)))', [ids])
  return ids
}
