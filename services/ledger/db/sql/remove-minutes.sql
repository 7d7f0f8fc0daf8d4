delete from accepted_count where ctid in (
    select ctid from accepted_count where minute < now() - make_interval(days => $1::integer)
     order by minute limit $2 for update skip locked)
  returning minute
