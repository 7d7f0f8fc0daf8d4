-- A page of an account's batches, newest first: at most $5, of the status $4 if given, older than the position ($2, $3).
select b.id, b.total, b.processing, b.completed, b.failed, iso_time(b.created_at) as created_at
  from batch b
 where b.account_id = $1
   and ($2::timestamptz is null or (b.created_at, b.id) < ($2::timestamptz, $3::uuid))
   and ($4::text is null or $4::text = case when b.completed + b.failed >= b.total then 'completed'
                                            when b.processing + b.completed + b.failed = 0 then 'pending' else 'processing' end)
 order by b.created_at desc, b.id desc
 limit $5
