select id, account_id as "accountId", pool, lane, attempts, unended_starts as "unendedStarts",
       extract(epoch from now() - created_at)::float8 as "ageSeconds", attempt_started_at::text as since
  from capture
 where status = 'processing'
   and (attempt_started_at + (budget_ms - $1) * interval '1 millisecond' < now()
        or (unended_starts = 0 and created_at < now() - $5 * interval '1 second'))
   and ($3::timestamptz is null or (attempt_started_at, id) > ($3, $4::uuid))
 order by attempt_started_at, id limit $2
