-- Keys that become free: of servers that died, and of webhooks that are deleted.

-- serving is set while a request that accepts no capture is being served, whose answer is not kept yet. webhook_id:
-- with this webhook the key goes.
alter table idempotency_key
  add column serving boolean not null default false,
  add column webhook_id uuid;
create index idempotency_key_webhook on idempotency_key (webhook_id) where webhook_id is not null;
