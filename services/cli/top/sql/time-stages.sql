select each.key as stage,
    percentile_disc(0.5) within group (order by each.value::float8) as "p50Ms",
    percentile_disc(0.95) within group (order by each.value::float8) as "p95Ms"
  from (select timings from capture where completed_at > $1 and status = 'completed' and not cached
         and json_typeof(timings) = 'object' order by completed_at desc limit $2) as recent,
    json_each_text(recent.timings) as each
  group by each.key
