-- A delivery whose redelivery was requested after it was taken stays due, whatever this attempt's result. It has no failures,
-- whereas a failed attempt would have added one, and its next_attempt_at is later than its taking.
with done as (
  select * from json_to_recordset($1) as
    (id uuid, take integer, "takenAt" timestamptz, at timestamptz, ms integer, status integer, error text, body text, "nextMs" float8)
), recorded as (
  update webhook_delivery d
     set attempts = d.attempts + 1,
         leased_until = null, takes = d.takes + 1, body = coalesce(d.body, n.body),
         failures = case when d.state = 'pending' and d.failures = 0 and d.next_attempt_at > n."takenAt" then 0 else d.failures + (n.error is not null)::integer end,
         state = case when d.state = 'pending' and d.failures = 0 and d.next_attempt_at > n."takenAt" then d.state
                      when n.error is null then 'delivered'
                      when d.state = 'pending' and n."nextMs" is null then 'failed' else d.state end,
         next_attempt_at = case when d.state = 'pending' and d.failures = 0 and d.next_attempt_at > n."takenAt" then d.next_attempt_at
                                when d.state = 'pending' and n.error is not null
                                then now() + n."nextMs" * interval '1 millisecond' end
    from done n where d.id = n.id and d.takes = n.take
  returning d.id, n.take, d.account_id, d.host, d.webhook_id, d.attempts, d.state, d.next_attempt_at, n.status, n.error, n.ms
), touched as (
  -- Whoever has locked one, has a result of its own or changes it.
  update webhook w set last_delivery_at = now()
   where w.id in (select l.id from webhook l where l.id in (select webhook_id from recorded) for no key update skip locked)
), announced as (
  insert into webhook_arrival (account_id, host, due_at)
  select account_id, host, min(next_attempt_at) from recorded where state = 'pending' group by 1, 2
), outcome as (
  select account_id, host, bool_or(status is not null) as answered, bool_or(error <> 'blocked') is true as failed,
         count(*) filter (where error is null and ms <= $2::integer)::integer as fast,
         bool_or(status is null and error in ('dns_failed', 'connection_failed', 'tls_failed', 'timeout')) as silent
    from recorded group by 1, 2
), locked as (
  select o.*, case when o.silent and not o.answered and q.unanswered + 1 >= $5::integer
                   then now() + least($7::float8, $6::float8 * 2 ^ least(q.unanswered + 1 - $5::integer, 20)) * interval '1 millisecond' end as pause
    from webhook_queue q join outcome o on o.account_id = q.account_id and o.host = q.host
   order by 1, 2 for update of q
), adapted as (
  update webhook_queue q
     set parallel = case when l.failed then greatest($3::integer, q.parallel / 2) else least($4::integer, q.parallel + l.fast) end,
         unanswered = case when l.answered then 0 else q.unanswered + l.silent::integer end,
         paused_until = case when not l.answered then coalesce(l.pause, q.paused_until) end,
         due_at = case when q.due_at is null then null
                       when l.answered and q.paused_until is not null then now()
                       else greatest(q.due_at, l.pause) end
    from locked l where q.account_id = l.account_id and q.host = l.host
)
insert into webhook_attempt (delivery_id, number, at, status, ms, error)
select n.id, n.attempts, d.at, d.status, d.ms, d.error from recorded n join done d on d.id = n.id and d.take = n.take
returning delivery_id as id
