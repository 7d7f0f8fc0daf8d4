import { lanes, pools } from '#shared/capture/lane.ts'
import type { Sql } from '#shared/db/connection.ts'

const requeue = (ids: string) => `
  insert into outbox (capture_id, account_id, pool, lane, created_at, relay_at)
  select c.id, c.account_id, c.pool, c.lane, c.created_at, now()
    from capture c where c.id in (${ids}) and c.status in ('pending', 'processing') and c.follows is null
   order by c.id
      on conflict (capture_id) do update set relay_at = excluded.relay_at where outbox.relay_at > excluded.relay_at
  returning capture_id`

/** Spares a plan for the partitions of captures that have ended, which a condition on the status does not. */
const isOpen = `c.part = 'open'`

/**
 * Whether a capture neither waits for admission nor is due. One whose row is not due yet has perhaps been published to a queue that
 * has lost it, and its row is about to be deleted.
 */
const isUnqueued = `not exists (select from outbox o where o.capture_id = c.id and (o.relay_at is null or o.relay_at <= now()))`

/**
 * Requeues a capture if `attempts` is unchanged. Restarts its budget, so that it is not overdue again before that has passed,
 * whether a worker begins it or not.
 */
export const requeueOverdue = async (
  database: Sql,
  { id, attempts }: { readonly id: string; readonly attempts: number },
): Promise<void> => {
  await database.query(
    `with again as (
       update capture set attempt_started_at = now() where id = $1 and status = 'processing' and attempts = $2 returning id)
     ${requeue('select id from again')}`,
    [id, attempts],
  )
}

/**
 * Requeues up to `limit` captures that have not ended, after the queue has lost its messages; waiting captures stay waiting.
 * Resolves to the number; if less than `limit`, none are left.
 */
export const requeueLost = async (database: Sql, limit: number): Promise<number> => {
  const rows = await database.query(
    requeue(`
      (select c.id from capture c where c.status = 'pending' and ${isOpen} and c.follows is null and ${isUnqueued} limit $1)
      union all (select c.id from capture c where c.status = 'processing' and ${isOpen} and ${isUnqueued} limit $1)
      limit $1`),
    [limit],
  )
  return rows.length
}

/** Requeues those of the captures that have not ended. Resolves to their number. */
export const requeueCaptures = async (database: Sql, ids: readonly string[]): Promise<number> => {
  const rows = await database.query(requeue('select unnest($1::uuid[])'), [ids])
  return rows.length
}

/**
 * Requeues up to `limit` captures of each pool that were accepted more than `olderThanMs` ago and have not begun, the oldest
 * first. The limit is per pool, so that a pool without workers does not delay the others.
 */
export const requeueUnstarted = async (
  database: Sql,
  which: { readonly olderThanMs: number; readonly limit: number },
): Promise<void> => {
  await database.query(
    requeue(`
      select u.id from unnest($3::text[]) as p (name) cross join lateral (
        select w.id from unnest($4::text[]) as l (name) cross join lateral (
          select c.id, c.created_at from capture c
           where c.status = 'pending' and ${isOpen} and c.follows is null and c.pool = p.name and c.lane = l.name
             and c.created_at < now() - $1 * interval '1 millisecond' and ${isUnqueued} order by c.created_at limit $2) as w
         order by w.created_at limit $2) as u`),
    [which.olderThanMs, which.limit, pools, lanes],
  )
}
