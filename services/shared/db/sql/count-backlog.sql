select p.pool, l.lane,
    coalesce(sum(m.admitted + m.waiting - m.processing), 0)::integer as pending,
    coalesce(sum(m.processing), 0)::integer as processing,
    coalesce((select s.last_value from pg_sequences s where s.schemaname = current_schema()
                and s.sequencename = 'accepted_' || p.pool || '_' || l.lane), 0)::float8 as accepted,
    coalesce(greatest(0, extract(epoch from now() - (
      select min(c.created_at) from capture c
       where c.status = 'pending' and c.follows is null and c.pool = p.pool and c.lane = l.lane)) * 1000), 0)::float8 as "oldestMs"
  from unnest($1::text[]) as p (pool) cross join unnest($2::text[]) as l (lane)
  left join lane_meter m on m.pool = p.pool and m.lane = l.lane and m.stage > 0
  group by p.pool, l.lane
