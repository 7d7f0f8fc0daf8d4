delete from webhook_queue where (account_id, host) in (
    select account_id, host from webhook_queue where due_at is null and used_at < now() - interval '1 hour'
     order by used_at limit $1 for update skip locked)
  returning host
