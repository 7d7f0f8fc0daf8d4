-- Arrivals in the minutes that are $3 minutes before the minute $1 and each of the $2 minutes from it on; without those that had none.
select e.pool, e.lane, m.ahead, jsonb_object_agg(a.ago, l.accepted - e.accepted) as "arrivals"
  from generate_series(0, $2::integer - 1) as m (ahead) cross join unnest($3::integer[]) as a (ago)
  join accepted_count e on e.minute = $1::timestamptz + (m.ahead - a.ago) * interval '1 minute'
  join accepted_count l on l.minute = e.minute + interval '1 minute' and l.pool = e.pool and l.lane = e.lane
  where l.accepted > e.accepted
  group by e.pool, e.lane, m.ahead
