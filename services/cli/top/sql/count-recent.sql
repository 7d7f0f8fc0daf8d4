with recent as (
  (select pool, 'accepted' as as_what from capture where id >= $1::uuid order by id desc limit $3)
  union all
  (select pool, status from capture where completed_at > $2 order by completed_at desc limit $4))
select pool as queue,
  count(*) filter (where as_what = 'accepted')::integer as accepted,
  count(*) filter (where as_what = 'completed')::integer as completed,
  count(*) filter (where as_what = 'failed')::integer as failed
from recent group by pool order by pool
