with expired as (
  update webhook_delivery set state = 'failed', next_attempt_at = null, attempts = attempts + 1
   where id in (
    select id from webhook_delivery
     where state = 'pending' and queued_at < now() - $1 * interval '1 millisecond' and leased_until is null
     order by queued_at limit $2 for update skip locked)
  returning id, attempts)
insert into webhook_attempt (delivery_id, number, at, ms, error)
select id, attempts, now(), 0, 'expired' from expired returning delivery_id
