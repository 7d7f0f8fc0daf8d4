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

  -- The room is read without a lock: while a capture waits, only this function admits, so the room can only grow.
  select array_agg(t.capture_id order by t.turn, t.created_at, t.capture_id) into v_ids
    from (
      select w.capture_id, w.created_at, (row_number() over lane - 1) / l.weight as turn
        from (
          select m.account_id, m.pool, m.lane, p.weight,
                 case when count(*) over (partition by m.pool, m.lane) > 1 then p_window * p.weight
                      else greatest(p_window * p.weight, m.processing) end - (m.admitted - m.processing) as room
            from lane_meter m join account a on a.id = m.account_id join plan p on p.slug = a.plan
           where m.stage = 2
        ) as l
       cross join lateral (
          select o.capture_id, o.created_at from outbox o
           where o.account_id = l.account_id and o.pool = l.pool and o.lane = l.lane and o.relay_at is null
           order by o.created_at, o.capture_id limit greatest(0, least(l.room, p_limit)) for update skip locked
        ) as w
      window lane as (partition by l.account_id, l.pool, l.lane order by w.created_at, w.capture_id)
       order by turn, w.created_at, w.capture_id limit p_limit
    ) as t;
  if v_ids is null then
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
