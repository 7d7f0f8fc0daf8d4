select c.id, c.pool from unnest($3::text[]) as p (name) cross join lateral (
  select w.id, w.pool from unnest($4::text[]) as l (name) cross join lateral (
    select id, pool, created_at from capture
     where status = 'pending' and part = 'open' and follows is null and pool = p.name and lane = l.name
       and created_at < now() - $1 * interval '1 second' order by created_at limit $2) as w
   order by w.created_at limit $2) as c
