-- Brings deliveries that a sender has taken in line with their webhook, as `follow_receiver` does, which has not come to them yet. Nothing
-- was sent of this take.
with followed as (
  update webhook_delivery d
     set leased_until = null, takes = d.takes + 1, url = w.url, host = receiver_of(w.url),
         state = case when d.queued_at <= r.deactivated_at then 'failed' else d.state end,
         next_attempt_at = case when d.queued_at <= r.deactivated_at then null else d.next_attempt_at end
    from unnest($1::uuid[], $2::integer[]) as h (id, take), webhook w left join receiver_change r on r.id = w.id
   where d.id = h.id and d.takes = h.take and d.state = 'pending' and w.id = d.webhook_id
  returning d.account_id, d.host, d.next_attempt_at
)
insert into webhook_arrival (account_id, host, due_at)
select account_id, host, min(next_attempt_at) from followed where next_attempt_at is not null group by 1, 2
