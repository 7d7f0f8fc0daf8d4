import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** How much may be taken, and how it is shared out. Counts are of deliveries in flight, over all senders together. */
export type TakeBounds = {
  /** Most that this call takes. */
  readonly limit: number
  /** Most of one account, so that one with many hosts leaves room for others. */
  readonly perAccount: number
  /** Times in a row without an answer from which on a receiver is tried by one delivery at a time. */
  readonly brokenAfter: number
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
  /** W3C trace context of the capture's request. */
  readonly traceparent: string | null
}

const take = readStatement(import.meta.dirname, 'sql/take-due.sql')

/** Takes deliveries that are due, so that no other sender tries them while the lease lasts; see `sql/take-deliveries.sql`. */
export const takeDeliveries = (
  database: Sql,
  { limit, perAccount, brokenAfter, leaseMs }: TakeBounds,
): Promise<TakenDelivery[]> => database.query<TakenDelivery>(take, [limit, perAccount, brokenAfter, leaseMs])

/** What is told on this channel of PostgreSQL: that something may have to be delivered. */
export const deliveriesChannel = 'shutterfleet_deliveries'

const nextDue = readStatement(import.meta.dirname, 'sql/find-next-due.sql')

/** Milliseconds until something is due that no sender holds, or the lease of one passes; undefined where nothing waits. */
export const nextDueMs = async (database: Sql): Promise<number | undefined> => {
  const [row] = await database.query<{ ms: number | null }>(nextDue)
  return row?.ms ?? undefined
}

/**
 * Has takers look at every queue in which something waits. Each sender does at its start, so what was queued by another
 * version of the service is found too.
 */
export const announceDeliveries = async (database: Sql): Promise<void> => {
  await database.query(
    `insert into webhook_arrival (account_id, host, due_at)
     select account_id, host, min(next_attempt_at) from webhook_delivery where state = 'pending' group by 1, 2`,
  )
}

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
