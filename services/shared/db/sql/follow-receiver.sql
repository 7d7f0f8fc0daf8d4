-- Walks on through the next p_limit deliveries of a webhook that was changed or deleted, or of an upload destination that was
-- deleted, and brings them in line: those of a deleted webhook are removed, uploads only if they are pending; what was pending when
-- the webhook was deactivated fails, even if it is active again; other pending ones go to its URL. The gateway calls it in the transaction of the change, the
-- ledger until all are walked: a statement that changes all at once would take too long, and hold locks for which senders wait.
-- Locked ones are left to the second walk.

drop function if exists follow_receiver;
create function follow_receiver(p_id uuid, p_limit integer) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_change receiver_change;
  v_webhook webhook;
  v_ids uuid[];
begin
  -- One call at a time, and none while the account is moved.
  select c.* into v_change from receiver_change c join account a on a.id = c.account_id
   where c.id = p_id and c.due_at <= clock_timestamp() and a.moving_at is null
     for update of c for share of a;
  if not found then
    return;
  end if;

  -- One of the two finds nothing.
  with walked as (
    (select d.created_at, d.id from webhook_delivery d
      where d.webhook_id = p_id and (d.created_at, d.id) < (v_change.walked_at, v_change.walked_id)
      order by d.created_at desc, d.id desc limit p_limit)
    union all
    (select d.created_at, d.id from webhook_delivery d
      where d.upload_destination_id = p_id and (d.created_at, d.id) < (v_change.walked_at, v_change.walked_id)
      order by d.created_at desc, d.id desc limit p_limit)
  )
  select coalesce(array_agg(w.id), '{}'), min(w.created_at), (array_agg(w.id order by w.created_at, w.id))[1]
    into v_ids, v_change.walked_at, v_change.walked_id from walked w;

  select w.* into v_webhook from webhook w where w.id = p_id;
  if v_webhook.id is null then
    delete from webhook_delivery where id in (
      select d.id from webhook_delivery d
       where d.id = any (v_ids) and (d.webhook_id is not null or d.state = 'pending') for update skip locked);
  else
    update webhook_delivery set state = 'failed', next_attempt_at = null where id in (
      select d.id from webhook_delivery d
       where d.id = any (v_ids) and d.state = 'pending' and d.queued_at <= v_change.deactivated_at
         for update skip locked);
    with moved as (
      update webhook_delivery set url = v_webhook.url, host = receiver_of(v_webhook.url) where id in (
        select d.id from webhook_delivery d
         where d.id = any (v_ids) and d.state = 'pending' and d.url <> v_webhook.url for update skip locked)
      returning account_id, host, next_attempt_at
    )
    insert into webhook_arrival (account_id, host, due_at)
    select m.account_id, m.host, min(m.next_attempt_at) from moved m group by 1, 2;
  end if;

  if cardinality(v_ids) = p_limit then
    update receiver_change c set walked_at = v_change.walked_at, walked_id = v_change.walked_id where c.id = p_id;
  elsif v_change.is_second then
    delete from receiver_change c where c.id = p_id;
  else
    -- Transactions that began before the change have ended by then.
    update receiver_change c
       set is_second = true, due_at = clock_timestamp() + interval '1 minute', walked_at = default, walked_id = default
     where c.id = p_id;
  end if;
end
$$;
