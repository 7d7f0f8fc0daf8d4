with oldest as materialized (
  select w.id, w.pool, w.lane, row_number() over (partition by w.pool, w.lane order by w.created_at, w.id) - 1 as place
    from unnest($2::text[]) as p (pool) cross join unnest($4::text[]) as a (lane) cross join lateral (
      select id, pool, lane, created_at from capture
       where status = 'pending' and part = 'open' and follows is null and pool = p.pool and lane = a.lane order by created_at limit $3) as w
), lanes as (select pool, lane, count(*) as captures from oldest group by 1, 2)
select c.id, c.status, iso_time(c.started_at) as "startedAt",
       case when c.status = 'pending' then coalesce(o.place, l.captures, 0)::integer end as position
  from capture c left join oldest o on o.id = coalesce(c.follows, c.id) left join lanes l on l.pool = c.pool and l.lane = c.lane
 where c.id = any ($1::uuid[])
