-- Counts of days that ended $1 days ago and are of no partition any more, in batches: in the transaction that drops a partition, others
-- would wait for the deletion of one row for each account and day.
with kept as materialized (
  select p.begins_at, p.ends_at from capture_partitions() as p
  union all
  -- What no partition has.
  select time_of(f.id) - interval '1 day', time_of(l.id) + interval '1 day'
    from (select id from capture_ended_other order by id limit 1) as f, (select id from capture_ended_other order by id desc limit 1) as l
), gone as materialized (
  select d.day::date from (select min(day) as day from capture_count) as oldest
    cross join lateral generate_series(oldest.day::timestamp, (now() at time zone 'utc')::date - $1::integer - 1, interval '1 day') as d (day)
   where not exists (
     select from kept k
      where k.begins_at < (d.day + interval '1 day') at time zone 'utc' and k.ends_at > d.day at time zone 'utc')
)
delete from capture_count where ctid = any (array(
    select c.ctid from gone g cross join lateral (
        select n.ctid from capture_count n where n.day = g.day limit $2 for update skip locked) as c
     limit $2))
  returning day
