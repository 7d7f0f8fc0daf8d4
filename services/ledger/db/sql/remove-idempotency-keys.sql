delete from idempotency_key where (account_id, key) in (
    select account_id, key from idempotency_key where created_at <= now() - interval '24 hours'
     order by created_at limit $1 for update skip locked)
  returning key
