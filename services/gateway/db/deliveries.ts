import { maskQuery } from '#shared/capture/mask-url.ts'
import type { Sql } from '#shared/db/connection.ts'
import type { RecordSeal } from '#shared/db/record-seal.ts'
import { attemptsMax, type Delivery } from '#gateway/records/delivery.ts'

/** Selects the deliveries of one capture or one webhook of the account. Ids are UUIDs. */
export type DeliveryOwner = { readonly accountId: string } & (
  | { readonly captureId: string }
  | { readonly webhookId: string }
)

/** A page, newest first: at most `limit` deliveries, older than `before` if given. */
export type DeliveryPage = {
  readonly limit: number
  readonly before?: { readonly createdAt: string; readonly id: string } | undefined
}

const list = (column: 'capture_id' | 'webhook_id') => `
select d.id, d.event, d.capture_id as screenshot_id, d.webhook_id, d.url, d.state as status,
       iso_time(d.created_at) as created_at, iso_time(d.sent_at) as sent_at,
       iso_time(d.next_attempt_at) as next_attempt_at,
       coalesce((
         select json_agg(json_build_object('number', a.number, 'at', iso_time(a.at), 'status', a.status, 'ms', a.ms,
                                           'error', a.error) order by a.number)
           from (select * from webhook_attempt t where t.delivery_id = d.id order by t.number desc
                  limit ${attemptsMax}) as a), '[]') as attempts
  from webhook_delivery d
 where d.${column} = $1 and d.account_id = $2
   and ($3::timestamptz is null or (d.created_at, d.id) < ($3::timestamptz, $4::uuid))
 order by d.created_at desc, d.id desc limit $5`

const keyOf = (owner: DeliveryOwner) =>
  'captureId' in owner
    ? ({ column: 'capture_id', id: owner.captureId } as const)
    : ({ column: 'webhook_id', id: owner.webhookId } as const)

/** Lists the deliveries of a webhook, or of a capture (to `webhook_url` and to webhooks), with their latest attempts. */
export const listDeliveries = async (
  { database, records }: { readonly database: Sql; readonly records: Pick<RecordSeal, 'openUrl'> },
  owner: DeliveryOwner,
  page: DeliveryPage,
): Promise<Delivery[]> => {
  const { column, id } = keyOf(owner)
  const { limit, before } = page
  const parameters = [id, owner.accountId, before?.createdAt ?? null, before?.id ?? null, limit]
  const rows = await database.query<Delivery>(list(column), parameters)
  return rows.map((row) => ({ ...row, url: maskQuery(records.openUrl(row.url)) }))
}

/**
 * Schedules a delivery again immediately, or after its running attempt, with the same body and keeping its earlier attempts, to
 * the present URL of its webhook. The row in `webhook_arrival` tells senders that the receiver has a delivery due. Returns false
 * if the capture or webhook has no such delivery, or its webhook or upload destination was deleted.
 */
export const redeliver = async (database: Sql, owner: DeliveryOwner, deliveryId: string): Promise<boolean> => {
  const { column, id } = keyOf(owner)
  const rows = await database.query(
    `with receiver as (
       select o.id, coalesce(w.url, o.url) as url
         from webhook_delivery o left join webhook w on w.id = o.webhook_id
         left join upload_destination u on u.id = o.upload_destination_id
        where o.id = $3 and o.${column} = $1 and o.account_id = $2
          and coalesce(o.webhook_id, o.upload_destination_id) is not distinct from coalesce(w.id, u.id)
     ), again as (
       update webhook_delivery d
          set state = 'pending', failures = 0, next_attempt_at = clock_timestamp(), queued_at = clock_timestamp(), url = r.url,
              host = receiver_of(r.url)
         from receiver r cross join refuse_while_moving($2) where d.id = r.id returning d.account_id, d.host)
     insert into webhook_arrival (account_id, host, due_at)
     select account_id, host, clock_timestamp() from again returning host`,
    [id, owner.accountId, deliveryId],
  )
  return rows.length > 0
}
