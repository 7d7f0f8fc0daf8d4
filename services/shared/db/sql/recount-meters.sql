-- A wrong meter stays wrong, and one that counts too many queued captures closes its lane. These functions compare meters
-- with rows and correct them. Batches and settled usage are not compared: rows that they count may have been deleted.

-- Returns the meters of some accounts that differ from the rows, with both counts. Rows and meters change in the same
-- transaction, so one statement reads them consistently without a lock. `part`: pool/lane, or the period of `reserved`.
create or replace function meter_drift(p_account_ids uuid[])
returns table (account_id uuid, meter text, part text, counted bigint, actual bigint)
language sql stable as $$
  -- Counted once: there may be hundreds of thousands of rows, and a few groups.
  with unended as materialized (
    select c.account_id, c.pool || '/' || c.lane as lane, c.status, c.charge, c.period::text as period,
           o.capture_id is not null as waits, count(*) as captures
      from capture c left join outbox o on o.capture_id = c.id and o.relay_at is null
     where c.account_id = any (p_account_ids) and c.status in ('pending', 'processing') and c.part = 'open' and c.follows is null
     group by c.account_id, c.pool, c.lane, c.status, c.charge, c.period, o.capture_id is not null
  ), actual as (
    select u.account_id, n.meter, n.part, sum(u.captures)::bigint as number
      from unended u cross join lateral (values
        ('pending', '', u.status = 'pending'), ('admitted', u.lane, not u.waits), ('waiting', u.lane, u.waits),
        ('processing', u.lane, u.status = 'processing'), ('reserved', u.period, u.charge = 'reserved')) as n (meter, part, is_counted)
     where n.is_counted group by 1, 2, 3
  ), counted as (
    select m.account_id, 'pending' as meter, '' as part, m.pending as number
      from account_meter m where m.account_id = any (p_account_ids)
    union all
    select l.account_id, n.meter, l.pool || '/' || l.lane, n.number
      from lane_meter l cross join lateral (
        values ('admitted', l.admitted), ('waiting', l.waiting), ('processing', l.processing)) as n (meter, number)
     where l.account_id = any (p_account_ids)
    union all select u.account_id, 'reserved', u.period::text, u.reserved from usage u where u.account_id = any (p_account_ids)
  )
  select account_id, meter, part, coalesce(c.number, 0), coalesce(a.number, 0)
    from counted c full join actual a using (account_id, meter, part)
   where coalesce(c.number, 0) <> coalesce(a.number, 0)
   order by 1, 2, 3
$$;

-- Sets an account's meters to the counts of its rows, and returns what was wrong. A transaction that changes counted
-- rows waits for this lock before it changes the meters, so none commits in between. Lock order: see check-request.sql.
create or replace function recount_meters(p_account_id uuid, out drift json)
language plpgsql as $$
begin
  perform from account_meter m where m.account_id = p_account_id for update;
  -- A separate statement: it reads what was committed before the lock was acquired.
  drift := coalesce((select json_agg(d) from meter_drift(array[p_account_id]) as d), '[]');

  update account_meter m set pending = d.actual from json_to_recordset(drift) as d (meter text, actual integer)
   where m.account_id = p_account_id and d.meter = 'pending';
  insert into usage (account_id, period)
  select p_account_id, d.part::date from json_to_recordset(drift) as d (meter text, part text) where d.meter = 'reserved'
      on conflict do nothing;
  update usage u set reserved = d.actual from json_to_recordset(drift) as d (meter text, part text, actual integer)
   where u.account_id = p_account_id and d.meter = 'reserved' and u.period = d.part::date;
  insert into lane_meter (account_id, pool, lane)
  select distinct p_account_id, split_part(d.part, '/', 1), split_part(d.part, '/', 2)
    from json_to_recordset(drift) as d (meter text, part text) where d.meter in ('admitted', 'waiting', 'processing')
      on conflict do nothing;
  update lane_meter l
     set admitted = coalesce(d.admitted, l.admitted), waiting = coalesce(d.waiting, l.waiting),
         processing = coalesce(d.processing, l.processing)
    from (select n.part, max(n.actual) filter (where n.meter = 'admitted') as admitted,
                 max(n.actual) filter (where n.meter = 'waiting') as waiting,
                 max(n.actual) filter (where n.meter = 'processing') as processing
            from json_to_recordset(drift) as n (meter text, part text, actual integer) group by 1) as d
   where l.account_id = p_account_id and l.pool || '/' || l.lane = d.part;
end
$$;
