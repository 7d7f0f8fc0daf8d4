select c.id, c.pool from unnest($3::text[]) as p (name) cross join lateral (
  select id, pool from capture where status = 'pending' and follows is null and pool = p.name
     and created_at < now() - $1 * interval '1 second' order by created_at limit $2) as c
