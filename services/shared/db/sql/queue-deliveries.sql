-- Queues the webhook deliveries for captures that have just ended, in the transaction that ends them: one to the address
-- in the capture's request, the upload of its image if it was requested, and one to each active webhook of the account that
-- subscribes to the event; if the last capture of a batch has ended, one to each that subscribes to that. A capture that is
-- deleted before its end queues only the batch's. Only inserts, so it takes no lock that others wait for: senders update
-- `webhook_queue` from `webhook_arrival`. The sender builds the body, from the rows at that time.

-- Host and port of an address as the URL parser writes it, without a default port and without the dot that ends an
-- absolute name. Deliveries to one host share a queue.
create or replace function receiver_of(p_url text) returns text
language sql immutable as $$
  select regexp_replace(coalesce(substring(p_url from '^[a-z]+://(?:[^/?#]*@)?([^/?#]+)'), p_url), '\.(:|$)', '\1')
$$;

-- A UUID of version 7. Random ones would each change a page of the index of their own, which the first change after a checkpoint
-- writes whole.
create or replace function ordered_id() returns uuid
language sql volatile as $$
  select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
          || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;

create or replace function queue_deliveries(p_captures capture[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  with ended as materialized (
    select c.id, c.account_id, c.webhook_url, 'screenshot.' || c.status as event,
           case when c.status = 'completed' then c.options ->> 'upload_to' end as upload_to
      from unnest(p_captures) as c
  ), queued as (
    insert into webhook_delivery (id, account_id, capture_id, webhook_id, upload_destination_id, url, host, event, subject,
                                  next_attempt_at, created_at)
    select ordered_id(), t.account_id, t.capture_id, t.webhook_id, t.upload_destination_id, t.url, receiver_of(t.url),
           t.event, t.subject, clock_timestamp(), clock_timestamp()
      from (
        select c.account_id, c.id as capture_id, null::uuid as webhook_id, null::uuid as upload_destination_id,
               c.webhook_url as url, c.event, null::json as subject
          from ended c where c.webhook_url is not null
        union all
        select c.account_id, c.id, w.id, null, w.url, c.event, null
          from ended c join webhook w on w.account_id = c.account_id
         where w.active and c.event = any (w.events)
        union all
        select c.account_id, c.id, null, d.id, d.url, 'screenshot.upload',
               json_build_object('bucket', d.bucket, 'prefix', d.prefix)
          from ended c join upload_destination d on d.account_id = c.account_id and d.name = c.upload_to
      ) as t
     where t.event in ('screenshot.completed', 'screenshot.failed', 'screenshot.upload')
    returning account_id, host
  )
  insert into webhook_arrival (account_id, host, due_at)
  select q.account_id, q.host, clock_timestamp() from queued q group by 1, 2;

  -- The transaction that ends the last capture of a batch has counted it before this call, under the batch's lock. A
  -- batch that ends while it is accepted gets here once per capture, so the delivery's id is derived from its content.
  with queued as (
    insert into webhook_delivery (id, account_id, webhook_id, url, host, event, subject, next_attempt_at, created_at)
    select md5(concat_ws(' ', 'batch.completed', w.id, b.id))::uuid, b.account_id, w.id, w.url, receiver_of(w.url),
           'batch.completed',
           json_build_object(
             'id', b.id, 'status', 'completed', 'total', b.total, 'completed', b.completed, 'failed', b.failed,
             'created_at', to_char(b.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
           clock_timestamp(), clock_timestamp()
      from batch b join webhook w on w.account_id = b.account_id
     where b.id in (select c.batch_id from unnest(p_captures) as c)
       and b.completed + b.failed = b.total and w.active and 'batch.completed' = any (w.events)
        on conflict (id) do nothing
    returning account_id, host
  )
  insert into webhook_arrival (account_id, host, due_at)
  select q.account_id, q.host, clock_timestamp() from queued q group by 1, 2;
end
$$;
