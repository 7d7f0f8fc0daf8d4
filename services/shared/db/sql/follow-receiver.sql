-- What an account has pending, by the index of what is due: with `offset`, conditions of the caller choose no index of all that is kept.
create or replace function pending_deliveries(p_account_id uuid) returns setof webhook_delivery
language sql stable as $$
  select * from webhook_delivery where account_id = p_account_id and state = 'pending' offset 0
$$;

-- Brings up to p_limit deliveries in line with a change of their webhook, or of their upload destination, which is only ever
-- deleted. The gateway calls it in the transaction of the change, the ledger until nothing is left: a statement that changes all
-- at once would take too long, and hold locks for which senders wait. Returns how many it found.
create or replace function follow_receiver(p_id uuid, p_limit integer) returns integer
language plpgsql as $$
declare
  v_change receiver_change;
  v_webhook webhook;
  v_host text;
  v_ids uuid[];
begin
  -- One call at a time, and none while the account is moved.
  select c.* into v_change from receiver_change c join account a on a.id = c.account_id
   where c.id = p_id and a.moving_at is null
     for update of c for share of a;
  if not found then
    return 0;
  end if;
  select w.* into v_webhook from webhook w where w.id = p_id;
  v_host := receiver_of(v_webhook.url);

  if v_webhook.id is null then
    v_ids := array(
      select d.id from webhook_delivery d where d.webhook_id = p_id
      union all
      (select p.id from pending_deliveries(v_change.account_id) p where p.upload_destination_id = p_id)
      limit p_limit);
    delete from webhook_delivery where id in (select d.id from webhook_delivery d where d.id = any (v_ids) for update skip locked);
  elsif v_webhook.active then
    -- What is in flight stays in its queue, to which its result belongs, until it is handed back or retried.
    v_ids := array(
      select p.id from pending_deliveries(v_change.account_id) p
       where p.webhook_id = p_id and (p.url <> v_webhook.url or p.host <> v_host and p.leased_until is null) limit p_limit);
    with moved as (
      update webhook_delivery d
         set url = v_webhook.url, host = case when d.leased_until is null then v_host else d.host end
       where d.id in (select n.id from webhook_delivery n where n.id = any (v_ids) and n.state = 'pending' for update skip locked)
      returning d.account_id, d.host, d.next_attempt_at
    )
    insert into webhook_arrival (account_id, host, due_at)
    select m.account_id, m.host, min(m.next_attempt_at) from moved m group by 1, 2;
  else
    -- Not what was queued since: a test, or a redelivery.
    v_ids := array(
      select p.id from pending_deliveries(v_change.account_id) p
       where p.webhook_id = p_id and p.queued_at <= v_change.changed_at limit p_limit);
    update webhook_delivery d set state = 'failed', next_attempt_at = null
     where d.id in (select n.id from webhook_delivery n where n.id = any (v_ids) and n.state = 'pending' for update skip locked);
  end if;

  -- Transactions that began before the change may still queue deliveries as before.
  if cardinality(v_ids) = 0 then
    delete from receiver_change c where c.id = p_id and c.changed_at < now() - interval '1 minute';
  end if;
  return cardinality(v_ids);
end
$$;
