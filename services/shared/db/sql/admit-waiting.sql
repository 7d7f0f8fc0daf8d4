-- Admits at most p_limit waiting captures up to each account's window, in weighted round-robin: per turn as many of
-- each account as its weight, oldest first. The window bounds the captures admitted and not begun, per pool and lane:
-- p_window times the weight, or, if no other account waits for the same lane, as many as the account has running if
-- that is more. So a lone account keeps any number of slots busy between two calls, and the next account finds no
-- more captures before its own than the slots serve at once. Returns the number admitted; 0 also while another relay
-- runs this. The lock is the transaction's: a frozen ledger keeps it no longer than its connection's time-outs allow.

create or replace function admit_waiting(p_window integer, p_limit integer) returns integer
language plpgsql as $$
declare
  v_ids uuid[];
begin
  if not pg_try_advisory_xact_lock(hashtext('shutterfleet admit_waiting')) then
    return 0;
  end if;

  -- Lanes, then captures, are chosen without locks, and only what is chosen is locked. While a capture waits, only this
  -- function admits, so the room can only grow. No lane is read further than the turns that p_limit captures take, and
  -- each lane looks up its own account, so that accounts without a waiting capture cost nothing.
  with lane as materialized (
    select m.account_id, m.pool, m.lane, p.weight,
           greatest(0, least(p_limit,
             case when count(*) over (partition by m.pool, m.lane) > 1 then p_window * p.weight
                  else greatest(p_window * p.weight, m.processing) end - (m.admitted - m.processing))) as room,
           m.waiting
      from lane_meter m cross join lateral (
        select p.weight from account a join plan p on p.slug = a.plan where a.id = m.account_id limit 1) as p
     where m.stage = 2
  ), depth as (
    select coalesce(min(n.turns), p_limit) as turns from (
      select d.turns from lane l cross join (select 2 ^ generate_series(0, 16) as turns) as d
       where l.room > 0 group by d.turns having sum(least(l.room, l.waiting, d.turns * l.weight)) >= p_limit) as n
  )
  select array_agg(t.capture_id) into v_ids
    from (
      select w.capture_id
        from lane l cross join depth d cross join lateral (
          select o.capture_id, o.created_at, (row_number() over (order by o.created_at, o.capture_id) - 1) / l.weight as turn
            from outbox o
           where o.account_id = l.account_id and o.pool = l.pool and o.lane = l.lane and o.relay_at is null
           order by o.created_at, o.capture_id limit least(l.room, d.turns * l.weight)
        ) as w
       where l.room > 0
       order by w.turn, w.created_at, w.capture_id limit p_limit
    ) as t;
  -- One that is ending or has just begun is locked, or is gone, and is left out.
  v_ids := array(select o.capture_id from outbox o where o.capture_id = any (v_ids) and o.relay_at is null
                  order by o.capture_id for update skip locked);
  if cardinality(v_ids) = 0 then
    return 0;
  end if;

  perform from account_meter
    where account_id in (select o.account_id from outbox o where o.capture_id = any (v_ids)) order by account_id for update;
  with admitted as (
    update outbox set relay_at = clock_timestamp() where capture_id = any (v_ids) returning account_id, pool, lane
  )
  update lane_meter l set admitted = l.admitted + n.captures, waiting = l.waiting - n.captures
    from (select account_id, pool, lane, count(*) as captures from admitted group by 1, 2, 3) as n
   where l.account_id = n.account_id and l.pool = n.pool and l.lane = n.lane;
  return cardinality(v_ids);
end
$$;
