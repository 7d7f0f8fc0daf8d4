delete from usage_day where ctid in (
    select ctid from usage_day where day < (now() at time zone 'utc')::date - $1::integer
     order by day limit $2 for update skip locked)
  returning day
