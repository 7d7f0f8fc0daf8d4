-- Steps from queue to queue by the index of what is due, so that it reads one row of each, however many are pending.
with recursive queue as (
  (select account_id, host, next_attempt_at from webhook_delivery where state = 'pending'
    order by account_id, host, next_attempt_at limit 1)
  union all
  select n.account_id, n.host, n.next_attempt_at from queue q cross join lateral (
    select d.account_id, d.host, d.next_attempt_at from webhook_delivery d
     where d.state = 'pending' and (d.account_id, d.host) > (q.account_id, q.host)
     order by d.account_id, d.host, d.next_attempt_at limit 1) as n
)
insert into webhook_arrival (account_id, host, due_at) select account_id, host, next_attempt_at from queue
