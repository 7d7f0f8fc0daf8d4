-- Each half reads its own index, so that the cost follows what is overdue, not what runs. By `part` no
-- partition of captures that have ended is planned for, which by status alone each is.
with running as not materialized (
  select id, account_id, pool, lane, attempts, unended_starts, created_at,
         (attempt_started_at at time zone 'utc') + budget_ms * interval '1 millisecond' as deadline
    from capture where status = 'processing' and part = 'open'
), overdue as (
  (select * from running
    where deadline < (now() at time zone 'utc') + $1 * interval '1 millisecond'
      and ($3::timestamp is null or (deadline, id) > ($3, $4::uuid))
    order by deadline, id limit $2)
  union
  (select * from running
    where unended_starts = 0 and created_at < now() - $5 * interval '1 second'
      and ($3::timestamp is null or (deadline, id) > ($3, $4::uuid))
    order by deadline, id limit $2)
)
select id, account_id as "accountId", pool, lane, attempts, unended_starts as "unendedStarts",
       extract(epoch from now() - created_at)::float8 as "ageSeconds", deadline::text
  from overdue order by overdue.deadline, id limit $2
