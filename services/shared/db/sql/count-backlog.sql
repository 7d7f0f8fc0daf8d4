select p.pool,
    coalesce(sum(l.admitted + l.waiting - l.processing), 0)::integer as pending,
    coalesce(sum(l.processing), 0)::integer as processing,
    coalesce((select s.last_value from pg_sequences s
               where s.schemaname = current_schema() and s.sequencename = 'accepted_' || p.pool), 0)::float8 as accepted,
    coalesce(greatest(0, extract(epoch from now() - (
      select min(c.created_at) from capture c where c.status = 'pending' and c.follows is null and c.pool = p.pool)) * 1000), 0)::float8
      as "oldestMs"
  from unnest($1::text[]) as p (pool) left join lane_meter l on l.pool = p.pool and l.stage > 0
  group by p.pool
