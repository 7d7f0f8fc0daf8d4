select id, iso_time(completed_at) as at, pool as queue, coalesce(error_code, '') as code,
    coalesce(error_message, '') as message, url
  from (select * from capture where completed_at > $1 order by completed_at desc limit $2) as ended
  where status = 'failed' order by completed_at desc limit $3
