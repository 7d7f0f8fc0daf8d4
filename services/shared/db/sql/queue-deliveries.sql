-- Queues what is to be told of captures that have just ended, in the transaction that ends them: one delivery to the
-- address that its request named, and one to each active webhook of the account that wants the event; of a batch whose last
-- capture has ended, one to each that wants that. Only inserts, so it takes no lock that anybody waits for: what a queue has
-- to know is announced in `webhook_arrival`. The body is made by the sender, from the rows as they are then.

-- Host and port of an address as the URL parser writes it, a default port left out; without the dot that ends an absolute
-- name. Deliveries to one host wait for each other.
create or replace function receiver_of(p_url text) returns text
language sql immutable as $$
  select regexp_replace(coalesce(substring(p_url from '^[a-z]+://(?:[^/?#]*@)?([^/?#]+)'), p_url), '\.(:|$)', '\1')
$$;

create or replace function queue_deliveries(p_ids uuid[]) returns void
language plpgsql as $$
begin
  with queued as (
    insert into webhook_delivery (id, account_id, capture_id, webhook_id, url, host, event, next_attempt_at, created_at)
    select gen_random_uuid(), t.account_id, t.capture_id, t.webhook_id, t.url, receiver_of(t.url), t.event,
           clock_timestamp(), clock_timestamp()
      from (
        select c.account_id, c.id as capture_id, null::uuid as webhook_id, c.webhook_url as url,
               'screenshot.' || c.status as event
          from capture c where c.id = any (p_ids) and c.webhook_url is not null
        union all
        select c.account_id, c.id, w.id, w.url, 'screenshot.' || c.status
          from capture c join webhook w on w.account_id = c.account_id
         where c.id = any (p_ids) and w.active and 'screenshot.' || c.status = any (w.events)
      ) as t
     where t.event in ('screenshot.completed', 'screenshot.failed')
    returning account_id, host
  )
  insert into webhook_arrival (account_id, host, due_at)
  select q.account_id, q.host, clock_timestamp() from queued q group by 1, 2;

  -- The transaction that ends the last capture of a batch has counted it before it calls this, under the batch's lock. A
  -- batch that ends as it is accepted comes here with each of its captures, so the delivery's id is made of what it tells.
  with queued as (
    insert into webhook_delivery (id, account_id, webhook_id, url, host, event, subject, next_attempt_at, created_at)
    select md5(concat_ws(' ', 'batch.completed', w.id, b.id))::uuid, b.account_id, w.id, w.url, receiver_of(w.url),
           'batch.completed',
           json_build_object(
             'id', b.id, 'status', 'completed', 'total', b.total, 'completed', b.completed, 'failed', b.failed,
             'created_at', to_char(b.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
           clock_timestamp(), clock_timestamp()
      from batch b join webhook w on w.account_id = b.account_id
     where b.id in (select c.batch_id from capture c where c.id = any (p_ids) and c.batch_id is not null)
       and b.completed + b.failed = b.total and w.active and 'batch.completed' = any (w.events)
        on conflict (id) do nothing
    returning account_id, host
  )
  insert into webhook_arrival (account_id, host, due_at)
  select q.account_id, q.host, clock_timestamp() from queued q group by 1, 2;
end
$$;
