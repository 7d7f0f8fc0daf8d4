import type { Sql } from './connection.ts'
import type { TakenDelivery } from './take-deliveries.ts'

/**
 * Why an attempt failed: an answer that is not 2xx, or a redirect, which is not followed; an address that may not be
 * reached; a name without address; no connection, or one that broke; a certificate that is not trusted; too slow; an
 * answer that is not HTTP.
 */
export const failures = [
  'status',
  'redirect',
  'blocked',
  'dns_failed',
  'connection_failed',
  'tls_failed',
  'timeout',
  'bad_answer',
] as const

/** One reason of a failed attempt, as the log of deliveries names it. */
export type Failure = (typeof failures)[number]

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

/** A receiver that took a delivery stays told, whatever another attempt at the same time came to. */
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
  returning d.id, d.webhook_id, d.attempts
), told as (
  update webhook w set last_delivery_at = now() where w.id in (select webhook_id from noted)
)
insert into webhook_attempt (delivery_id, number, at, status, ms, error)
select n.id, n.attempts, d.at, d.status, d.ms, d.error from noted n join done d on d.id = n.id
returning delivery_id as id`

/** Writes down attempts, each of another delivery. Deliveries that are gone are left out. */
export const noteAttempts = async (database: Sql, attempts: readonly NotedAttempt[]): Promise<void> => {
  if (attempts.length > 0) await database.query(note, [JSON.stringify(attempts)])
}

/** Forgets up to `limit` deliveries that ended and are older than `days`. Answers how many. */
export const forgetDeliveries = async (database: Sql, days: number, limit: number): Promise<number> => {
  const rows = await database.query(
    `delete from webhook_delivery where id in (
       select id from webhook_delivery where created_at < now() - $1 * interval '1 day' and state <> 'pending'
        order by created_at limit $2 for update skip locked)
     returning id`,
    [days, limit],
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
    `update webhook_delivery d
        set leased_until = null, next_attempt_at = now() + $3 * interval '1 millisecond',
            body = case when b.untried and d.attempts = 0 then null else d.body end,
            sent_at = case when b.untried and d.attempts = 0 then null else d.sent_at end
       from unnest($1::uuid[], $2::boolean[]) as b (id, untried) where d.id = b.id and d.state = 'pending'`,
    [deliveries.map(({ id }) => id), deliveries.map(({ body }) => body === null), waitMs],
  )
}
