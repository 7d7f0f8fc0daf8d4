import type { Sql } from './connection.ts'
import { isoTime } from './iso-time.ts'

/** How much may be taken, and how it is shared out. Counts are of deliveries in flight, over all senders together. */
export type TakeBounds = {
  /** Most that this call takes. */
  readonly limit: number
  /** Most of one account and host. */
  readonly perHost: number
  /** Most of one account, so that one with many hosts leaves room for others. */
  readonly perAccount: number
  /** How long a delivery is left to its taker; then another takes it. */
  readonly leaseMs: number
}

/** A delivery to try now. */
export type TakenDelivery = {
  readonly id: string
  readonly accountId: string
  readonly captureId: string | null
  readonly webhookId: string | null
  readonly url: string
  readonly event: string
  /** `data` of an event that is not about a capture. */
  readonly subject: Readonly<Record<string, unknown>> | null
  /** What an earlier taker sent, or may have sent; null where nothing was sent yet. */
  readonly body: string | null
  /** When the first attempt began, perhaps now; ISO 8601 UTC with microseconds. */
  readonly sentAt: string
  /** The database's clock when it was taken; as `sentAt`. */
  readonly takenAt: string
  /** Attempts that failed since it was queued or asked for again. */
  readonly failures: number
  /** What it is signed with; null for the address that a request named. */
  readonly sealedSecret: Buffer | null
  /** The secret of before a rotation, while it is still in use. */
  readonly sealedPreviousSecret: Buffer | null
}

/** Takers take turns, so that the bounds hold over all of them. */
const turn = `select pg_advisory_xact_lock(hashtext('shutterfleet take deliveries'))`

/**
 * `hosts` walks the partial index from one account and host to the next, so that the longest queue of a dead receiver
 * costs no more than a short one. A delivery's place counts what of its account is in flight or goes first: those with
 * few come before those with many.
 */
const take = `
with recursive hosts as (
  (select account_id, host from webhook_delivery where state = 'pending' order by account_id, host limit 1)
  union all
  select n.account_id, n.host from hosts h cross join lateral (
    select d.account_id, d.host from webhook_delivery d
     where d.state = 'pending' and (d.account_id, d.host) > (h.account_id, h.host)
     order by d.account_id, d.host limit 1) as n
), flying as (
  select account_id, host, count(*) as many from webhook_delivery
   where leased_until > now() and state = 'pending' group by 1, 2
), due as (
  select d.id, h.account_id, d.next_attempt_at
    from hosts h left join flying f on f.account_id = h.account_id and f.host = h.host
   cross join lateral (
    select w.id, w.next_attempt_at from webhook_delivery w
     where w.state = 'pending' and w.account_id = h.account_id and w.host = h.host
       and w.next_attempt_at <= now() and (w.leased_until is null or w.leased_until <= now())
     order by w.next_attempt_at limit greatest(0, $2::integer - coalesce(f.many, 0))) as d
), placed as (
  select d.id, d.next_attempt_at,
         row_number() over (partition by d.account_id order by d.next_attempt_at)
           + coalesce((select sum(f.many) from flying f where f.account_id = d.account_id), 0) as place
    from due d
), taken as (
  update webhook_delivery set leased_until = now() + $4 * interval '1 millisecond',
         sent_at = case when body is null then now() else sent_at end
   where id in (
    select w.id from webhook_delivery w
     where w.id = any (array(select id from placed where place <= $3 order by place, next_attempt_at limit $1))
       and w.state = 'pending' for update skip locked)
  returning id, account_id, capture_id, webhook_id, url, event, subject, body, sent_at, failures
)
select t.id, t.account_id as "accountId", t.capture_id as "captureId", t.webhook_id as "webhookId", t.url, t.event,
       t.subject, t.body, ${isoTime('t.sent_at')} as "sentAt", ${isoTime('now()')} as "takenAt", t.failures, s.sealed as "sealedSecret",
       case when s.previous_until > now() then s.previous_sealed end as "sealedPreviousSecret"
  from taken t left join webhook_secret s on s.webhook_id = t.webhook_id`

/** Takes deliveries that are due, so that no other sender tries them while the lease lasts. */
export const takeDeliveries = (
  database: { readonly transaction: <T>(work: (sql: Sql) => Promise<T>) => Promise<T> },
  { limit, perHost, perAccount, leaseMs }: TakeBounds,
): Promise<TakenDelivery[]> =>
  database.transaction(async (sql) => {
    await sql.query(turn)
    return sql.query<TakenDelivery>(take, [limit, perHost, perAccount, leaseMs])
  })

/** Keeps deliveries with their taker for another `leaseMs`. */
export const keepDeliveries = async (database: Sql, ids: readonly string[], leaseMs: number): Promise<void> => {
  if (ids.length === 0) return
  await database.query(
    `update webhook_delivery set leased_until = now() + $2 * interval '1 millisecond'
      where id = any ($1::uuid[]) and leased_until is not null`,
    [ids, leaseMs],
  )
}

/** Notes what is sent, so that every later attempt sends the same bytes. Answers the ids of those that still stand. */
export const storeBodies = async (
  database: Sql,
  bodies: readonly { readonly id: string; readonly body: string }[],
): Promise<ReadonlySet<string>> => {
  if (bodies.length === 0) return new Set()
  const rows = await database.query<{ id: string }>(
    `update webhook_delivery d set body = n.body from unnest($1::uuid[], $2::text[]) as n (id, body)
      where d.id = n.id and d.state = 'pending' returning d.id`,
    [bodies.map(({ id }) => id), bodies.map(({ body }) => body)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Forgets deliveries of which there is nothing to tell any more: the capture or the webhook is gone. */
export const dropDeliveries = async (database: Sql, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await database.query('delete from webhook_delivery where id = any ($1::uuid[])', [ids])
}
