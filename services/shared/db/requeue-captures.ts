import { pools } from '#shared/capture/lane.ts'
import type { Sql } from './connection.ts'

const requeue = (ids: string) => `
  insert into outbox (capture_id, account_id, pool, lane, created_at, relay_at)
  select c.id, c.account_id, c.pool, c.lane, c.created_at, now()
    from capture c where c.id in (${ids}) and c.status in ('pending', 'processing') and c.follows is null
   order by c.id
      on conflict do nothing
  returning capture_id`

const absent = 'not exists (select from outbox o where o.capture_id = c.id)'

/** Puts captures back into the outbox that are to be published again; those that have ended or follow another stay as they are. */
export const requeueCaptures = async (database: Sql, ids: readonly string[]): Promise<void> => {
  await database.query(requeue('select unnest($1::uuid[])'), [ids])
}

/**
 * Puts up to `limit` of the captures back that have not ended, for when the queue has lost what it held; those that wait
 * for room stay waiting. Answers how many; fewer than `limit` says that none are left.
 */
export const requeueLost = async (database: Sql, limit: number): Promise<number> => {
  const rows = await database.query(
    requeue(`
      (select c.id from capture c where c.status = 'pending' and c.follows is null and ${absent} limit $1)
      union all (select c.id from capture c where c.status = 'processing' and ${absent} limit $1)
      limit $1`),
    [limit],
  )
  return rows.length
}

/** Puts up to `limit` captures back that were accepted more than `olderThanMs` ago and have not begun, the oldest first. */
export const requeueUnbegun = async (
  database: Sql,
  which: { readonly olderThanMs: number; readonly limit: number },
): Promise<void> => {
  await database.query(
    requeue(`
      select c.id from capture c where c.status = 'pending' and c.follows is null and c.pool = any ($3)
         and c.created_at < now() - $1 * interval '1 millisecond' and ${absent} order by c.created_at limit $2`),
    [which.olderThanMs, which.limit, pools],
  )
}
