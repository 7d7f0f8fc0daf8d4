-- Leases at most p_limit due deliveries, so that no other sender attempts them until the lease expires, and returns
-- them. `takes` fences the lease: a write that names an earlier take changes nothing. At most p_per_account of an account
-- are in flight over all senders, and of an account and host as many as its queue allows (see record-attempts.sql), or one
-- while its receiver does not respond.
--
-- `webhook_queue` lists the accounts and hosts with due deliveries, so deliveries that wait for later cost nothing,
-- and a dead receiver's long queue costs no more than a short one. `due_at` is moved forward here, by one call at a
-- time, and in record-attempts.sql if a receiver is paused.

drop function if exists take_deliveries;
create function take_deliveries(p_limit integer, p_per_account integer, p_broken_after integer, p_lease_ms integer)
returns setof webhook_delivery
language plpgsql as $$
declare
  v_now timestamptz;
  v_accounts uuid[];
  v_hosts text[];
  v_rooms integer[];
  v_taken integer;
  v_left integer := p_limit;
begin
  -- Calls are serialized, so that the bounds hold over all senders.
  perform pg_advisory_xact_lock(hashtext('shutterfleet take deliveries'));
  v_now := clock_timestamp();

  -- New deliveries, and those whose sender died.
  with lost as (
    update webhook_delivery d set leased_until = null
     where d.id in (select l.id from webhook_delivery l where l.leased_until <= v_now for update skip locked)
    returning d.account_id, d.host, v_now as due_at
  ), arrived as (
    delete from webhook_arrival a
     where a.id in (select n.id from webhook_arrival n limit 10000 for update skip locked)
    returning a.account_id, a.host, a.due_at
  )
  insert into webhook_queue as q (account_id, host, due_at)
  select n.account_id, n.host, min(n.due_at) from (select * from lost union all select * from arrived) as n
   group by 1, 2 order by 1, 2
      on conflict (account_id, host) do update set due_at = greatest(q.paused_until, least(q.due_at, excluded.due_at));

  -- An account with its share may have all of the queues that are found: others are looked for without it.
  for v_turn in 1..10 loop
    -- Queues with due deliveries and room, the longest due first. A locked queue is left to the next call.
    with flying as materialized (
      select f.account_id, f.host, count(*)::integer as many from webhook_delivery f
       where f.leased_until is not null group by 1, 2
    ), open as (
      select q.account_id, q.host,
             case when q.unanswered >= p_broken_after then 1 else q.parallel end - coalesce(f.many, 0) as room
        from webhook_queue q left join flying f on f.account_id = q.account_id and f.host = q.host
       where q.due_at <= v_now
         and case when q.unanswered >= p_broken_after then 1 else q.parallel end > coalesce(f.many, 0)
         -- An account that is moved takes along what is pending.
         and not exists (select from account a where a.id = q.account_id and a.moving_at is not null)
         and q.account_id not in (select s.account_id from flying s group by 1 having sum(s.many) >= p_per_account)
       order by q.due_at limit p_limit for update of q skip locked
    )
    select array_agg(o.account_id), array_agg(o.host), array_agg(o.room) into v_accounts, v_hosts, v_rooms from open o;
    exit when v_accounts is null;

    -- `place` is 1 plus the account's deliveries in flight or taken earlier: accounts with few go first.
    return query
    with flying as materialized (
      select f.account_id, count(*) as many from webhook_delivery f where f.leased_until is not null group by 1
    ), due as (
      select d.id, q.account_id, d.next_attempt_at
        from unnest(v_accounts, v_hosts, v_rooms) as q (account_id, host, room) cross join lateral (
          select w.id, w.next_attempt_at from webhook_delivery w
           where w.state = 'pending' and w.account_id = q.account_id and w.host = q.host
             and w.next_attempt_at <= v_now and w.leased_until is null
           order by w.next_attempt_at limit q.room) as d
    ), placed as (
      select d.id, d.next_attempt_at,
             row_number() over (partition by d.account_id order by d.next_attempt_at)
               + coalesce((select f.many from flying f where f.account_id = d.account_id), 0) as place
        from due d
    )
    update webhook_delivery w
       set leased_until = v_now + p_lease_ms * interval '1 millisecond', takes = w.takes + 1,
           sent_at = coalesce(w.sent_at, v_now)
     where w.id in (
      select n.id from webhook_delivery n
       where n.id = any (array(select p.id from placed p where p.place <= p_per_account
                                order by p.place, p.next_attempt_at limit v_left))
         and n.state = 'pending' for update skip locked)
    returning w.*;
    get diagnostics v_taken = row_count;
    v_left := v_left - v_taken;

    update webhook_queue q
       set used_at = v_now,
           due_at = (select greatest(q.paused_until, w.next_attempt_at) from webhook_delivery w
                      where w.state = 'pending' and w.account_id = q.account_id and w.host = q.host
                        and w.leased_until is null
                      order by w.next_attempt_at limit 1)
      from unnest(v_accounts, v_hosts) as t (account_id, host)
     where q.account_id = t.account_id and q.host = t.host;

    exit when v_taken = 0 or v_left = 0 or cardinality(v_accounts) < p_limit;
  end loop;
end
$$;
