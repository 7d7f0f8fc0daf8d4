import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** Bounds of one take. Counts are of deliveries in flight, over all senders together. */
export type TakeBounds = {
  /** Most that this call takes. */
  readonly limit: number
  /** Most of one account, so that one with many hosts leaves room for others. */
  readonly perAccount: number
  /** Number of consecutive attempts without a response after which a receiver gets one delivery at a time. */
  readonly brokenAfter: number
  /** Milliseconds for which a delivery is leased to its sender; then another sender takes it. */
  readonly leaseMs: number
}

/** A delivery, and the number of the take by which a sender holds it. Nothing changes once it has been taken again. */
export type Held = { readonly id: string; readonly take: number }

const ids = (held: readonly Held[]) => held.map(({ id }) => id)
const takes = (held: readonly Held[]) => held.map(({ take: number }) => number)

type Taken = Held & {
  readonly accountId: string
  readonly captureId: string | null
  readonly webhookId: string | null
  readonly url: string
  readonly event: string
  /** `data` of an event that is not about a capture; `bucket` and `prefix` of an upload. */
  readonly eventData: Readonly<Record<string, unknown>> | null
  /** What was sent; null if nothing was, or by a sender that died within its first lease. */
  readonly body: string | null
  /** When it was first taken, perhaps now; ISO 8601 UTC with microseconds. */
  readonly sentAt: string
  /** The database's time when it was taken, in the format of `sentAt`. */
  readonly takenAt: string
  /** Failed attempts since it was queued or its redelivery was requested. */
  readonly failures: number
  /** Set if it is an upload instead of a request to a webhook. */
  readonly destinationId: string | null
}

type Signer = {
  readonly id: string
  /** The secret that signs it; null for a URL that a request named, and if the webhook or the destination was deleted. */
  readonly sealedSecret: Buffer | null
  /** The secret before a rotation, while it is still in use. */
  readonly sealedPreviousSecret: Buffer | null
  /** W3C trace context of the capture's request. */
  readonly traceparent: string | null
  /** Whether its webhook has another URL by now, or was deactivated since it was queued; null if it has none. */
  readonly isBehind: boolean | null
  /** Null if it was deleted. */
  readonly destination: { readonly accessKeyId: string; readonly region: string } | null
}

/** A delivery to try now. */
export type TakenDelivery = Taken & Signer

const take = readStatement(import.meta.dirname, 'sql/take-due.sql')
const findSigners = readStatement(import.meta.dirname, 'sql/find-signers.sql')
const followWebhook = readStatement(import.meta.dirname, 'sql/follow-webhook.sql')

/**
 * Takes deliveries that are due, so that no other sender tries them while the lease lasts; see the SQL function `take_deliveries`.
 * Leaves out those that were deleted meanwhile, and those that have to follow their webhook first, which they then do.
 */
export const takeDeliveries = async (
  database: Sql,
  { limit, perAccount, brokenAfter, leaseMs }: TakeBounds,
): Promise<TakenDelivery[]> => {
  const taken = await database.query<Taken>(take, [limit, perAccount, brokenAfter, leaseMs])
  if (taken.length === 0) return []
  const signers = await database.query<Signer>(findSigners, [ids(taken)])
  const byId = new Map(signers.map((signer) => [signer.id, signer]))
  const behind = taken.filter(({ id }) => byId.get(id)?.isBehind === true)
  if (behind.length > 0) await database.query(followWebhook, [ids(behind), takes(behind)])
  return taken.flatMap((delivery) => {
    const signer = byId.get(delivery.id)
    return signer === undefined || behind.includes(delivery) ? [] : [{ ...delivery, ...signer }]
  })
}

/** PostgreSQL channel for notifications that deliveries may be due. */
export const deliveriesChannel = 'shutterfleet_deliveries'

const nextDue = readStatement(import.meta.dirname, 'sql/find-next-due.sql')

/**
 * Announces that this sender polls for another `pollingMs`, so that nobody notifies senders; 0: not any longer. `isNotifying`
 * wakes all senders.
 */
export const announcePolling = async (database: Sql, pollingMs: number, isNotifying: boolean): Promise<void> => {
  await database.query(
    `with polling as (update webhook_polling set polled_until = clock_timestamp() + $1 * interval '1 millisecond')
     select pg_notify('${deliveriesChannel}', '') where $2`,
    [pollingMs, isNotifying],
  )
}

/** Milliseconds until a delivery without a lease is due, or a lease expires; undefined if nothing waits. */
export const nextDueMs = async (database: Sql): Promise<number | undefined> => {
  const [row] = await database.query<{ ms: number | null }>(nextDue)
  return row?.ms ?? undefined
}

const announce = readStatement(import.meta.dirname, 'sql/announce-deliveries.sql')

/**
 * Announces every queue with pending deliveries to the senders. Each sender does so at its start, to find what another version
 * of the service queued.
 */
export const announceDeliveries = async (database: Sql): Promise<void> => {
  await database.query(announce)
}

/**
 * Renews the leases of deliveries for another `leaseMs`, also of those that have expired and were not taken over, and stores
 * their sealed bodies if none is stored. Skips those whose result is being stored.
 */
export const renewLeases = async (
  database: Sql,
  held: readonly (Held & { readonly body: string | null })[],
  leaseMs: number,
): Promise<void> => {
  if (held.length === 0) return
  await database.query(
    `update webhook_delivery d set leased_until = now() + $3 * interval '1 millisecond', body = coalesce(d.body, n.body)
       from (select l.id, h.body from webhook_delivery l join unnest($1::uuid[], $2::integer[], $4::text[]) as h (id, take, body)
                 on l.id = h.id and l.takes = h.take
                for update of l skip locked) as n
      where d.id = n.id`,
    [ids(held), takes(held), leaseMs, held.map(({ body }) => body)],
  )
}

/** Deletes deliveries, because their capture, webhook or destination was deleted. Returns how many. */
export const dropDeliveries = async (database: Sql, held: readonly Held[]): Promise<number> => {
  if (held.length === 0) return 0
  const rows = await database.query(
    `delete from webhook_delivery d using unnest($1::uuid[], $2::integer[]) as h (id, take)
      where d.id = h.id and d.takes = h.take returning d.id`,
    [ids(held), takes(held)],
  )
  return rows.length
}
