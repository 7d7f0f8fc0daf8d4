with back as (
  update webhook_delivery d
     set leased_until = null, takes = d.takes + 1, next_attempt_at = now() + $4 * interval '1 millisecond',
         body = case when b.untried and d.attempts = 0 then null else d.body end,
         sent_at = case when b.untried and d.attempts = 0 then null else d.sent_at end
    from unnest($1::uuid[], $2::integer[], $3::boolean[]) as b (id, take, untried)
   where d.id = b.id and d.takes = b.take and d.state = 'pending'
  returning d.account_id, d.host, d.next_attempt_at)
insert into webhook_arrival (account_id, host, due_at)
select account_id, host, min(next_attempt_at) from back group by 1, 2
