import type { Sql } from '#shared/db/connection.ts'
import type { Failure } from '#shared/errors/delivery-failures.ts'
import type { TakenDelivery } from './take-deliveries.ts'

/** What came of an attempt, and what becomes of its delivery. */
export type NotedAttempt = {
  /** The delivery's. */
  readonly id: string
  /** The delivery's. */
  readonly takenAt: string
  /** When it began. */
  readonly at: Date
  readonly ms: number
  /** HTTP status of the answer; null where there was none. */
  readonly status: number | null
  /** Null where the receiver took it. */
  readonly error: Failure | null
  /** Milliseconds from now to the next attempt; null where there is none. */
  readonly nextMs: number | null
}

/**
 * Whether a delivery was asked for again since it was taken: then it stays due, whatever the attempt came to. It has no
 * failures, which the failure of another attempt would have given it, and a time that is later than its taking.
 */
const isAskedAgain = `d.state = 'pending' and d.failures = 0 and d.next_attempt_at > n."takenAt"`

/** How many deliveries a receiver gets at a time, and what becomes of one that does not answer. */
export type Adapting = {
  /** Of a queue that is new, and the least after failures. */
  readonly parallelMin: number
  readonly parallelMax: number
  /** A receiver that takes a delivery within this gets one more at a time. */
  readonly quickMs: number
  /** Times in a row without an answer after which a receiver is left alone for `pauseMs`, twice as long each further time. */
  readonly brokenAfter: number
  readonly pauseMs: number
  readonly pauseMaxMs: number
}

/**
 * A receiver that took a delivery stays told, whatever another attempt at the same time came to. Its queue is adapted to
 * what came of its attempts: one more delivery at a time for each that it took quickly, half as many where any failed; an
 * address that may not be reached says nothing of it. Queues are locked in order; takers wait for none of them.
 */
const note = `
with done as (
  select * from json_to_recordset($1) as
    (id uuid, "takenAt" timestamptz, at timestamptz, ms integer, status integer, error text, "nextMs" float8)
), noted as (
  update webhook_delivery d
     set attempts = d.attempts + 1,
         leased_until = null,
         failures = case when ${isAskedAgain} then 0 else d.failures + (n.error is not null)::integer end,
         state = case when ${isAskedAgain} then d.state
                      when n.error is null then 'delivered'
                      when d.state = 'pending' and n."nextMs" is null then 'failed' else d.state end,
         next_attempt_at = case when ${isAskedAgain} then d.next_attempt_at
                                when d.state = 'pending' and n.error is not null
                                then now() + n."nextMs" * interval '1 millisecond' end
    from done n where d.id = n.id
  returning d.id, d.account_id, d.host, d.webhook_id, d.attempts, d.state, d.next_attempt_at, n.status, n.error, n.ms
), told as (
  update webhook w set last_delivery_at = now() where w.id in (select webhook_id from noted)
), announced as (
  insert into webhook_arrival (account_id, host, due_at)
  select account_id, host, min(next_attempt_at) from noted where state = 'pending' group by 1, 2
), outcome as (
  select account_id, host, bool_or(status is not null) as answered, bool_or(error <> 'blocked') is true as failed,
         count(*) filter (where error is null and ms <= $2::integer)::integer as quick,
         bool_or(status is null and error in ('dns_failed', 'connection_failed', 'tls_failed', 'timeout')) as silent
    from noted group by 1, 2
), locked as (
  select o.*, case when o.silent and not o.answered and q.unanswered + 1 >= $5::integer
                   then now() + least($7::float8, $6::float8 * 2 ^ least(q.unanswered + 1 - $5::integer, 20)) * interval '1 millisecond' end as pause
    from webhook_queue q join outcome o on o.account_id = q.account_id and o.host = q.host
   order by 1, 2 for update of q
), adapted as (
  update webhook_queue q
     set parallel = case when l.failed then greatest($3::integer, q.parallel / 2) else least($4::integer, q.parallel + l.quick) end,
         unanswered = case when l.answered then 0 else q.unanswered + l.silent::integer end,
         paused_until = case when not l.answered then coalesce(l.pause, q.paused_until) end,
         due_at = case when q.due_at is null then null
                       when l.answered and q.paused_until is not null then now()
                       else greatest(q.due_at, l.pause) end
    from locked l where q.account_id = l.account_id and q.host = l.host
)
insert into webhook_attempt (delivery_id, number, at, status, ms, error)
select n.id, n.attempts, d.at, d.status, d.ms, d.error from noted n join done d on d.id = n.id
returning delivery_id as id`

/** Writes down attempts, each of another delivery. Deliveries that are gone are left out. */
export const noteAttempts = async (
  database: Sql,
  attempts: readonly NotedAttempt[],
  { parallelMin, parallelMax, quickMs, brokenAfter, pauseMs, pauseMaxMs }: Adapting,
): Promise<void> => {
  if (attempts.length === 0) return
  const bounds = [quickMs, parallelMin, parallelMax, brokenAfter, pauseMs, pauseMaxMs]
  await database.query(note, [JSON.stringify(attempts), ...bounds])
}

/** Gives up to `limit` deliveries up that wait since longer than `ageMs`, and writes down why. Answers how many. */
export const expireDeliveries = async (database: Sql, ageMs: number, limit: number): Promise<number> => {
  const rows = await database.query(
    `with expired as (
       update webhook_delivery set state = 'failed', next_attempt_at = null, attempts = attempts + 1
        where id in (
         select id from webhook_delivery
          where state = 'pending' and queued_at < now() - $1 * interval '1 millisecond' and leased_until is null
          order by queued_at limit $2 for update skip locked)
       returning id, attempts)
     insert into webhook_attempt (delivery_id, number, at, ms, error)
     select id, attempts, now(), 0, 'expired' from expired returning delivery_id`,
    [ageMs, limit],
  )
  return rows.length
}

/**
 * Hands back deliveries that could not be tried for a reason of our own; they are due again after `waitMs`. Of one that
 * nobody has tried before, what was to be sent is forgotten: its first attempt is still to come.
 */
export const handBackDeliveries = async (
  database: Sql,
  deliveries: readonly Pick<TakenDelivery, 'id' | 'body'>[],
  waitMs: number,
): Promise<void> => {
  if (deliveries.length === 0) return
  await database.query(
    `with back as (
       update webhook_delivery d
          set leased_until = null, next_attempt_at = now() + $3 * interval '1 millisecond',
              body = case when b.untried and d.attempts = 0 then null else d.body end,
              sent_at = case when b.untried and d.attempts = 0 then null else d.sent_at end
         from unnest($1::uuid[], $2::boolean[]) as b (id, untried) where d.id = b.id and d.state = 'pending'
       returning d.account_id, d.host, d.next_attempt_at)
     insert into webhook_arrival (account_id, host, due_at)
     select account_id, host, min(next_attempt_at) from back group by 1, 2`,
    [deliveries.map(({ id }) => id), deliveries.map(({ body }) => body === null), waitMs],
  )
}
