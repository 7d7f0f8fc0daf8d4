select c.id, c.url, c.options, c.webhook_url as "webhookUrl" from capture c
  where c.account_id = $1 and c.status = 'failed' and c.error_code = any ($2) and c.completed_at >= $3
    and not exists (
      select from idempotency_key k where k.account_id = c.account_id and k.key = $5::text || c.id)
  order by c.completed_at, c.id limit $4
