-- Answers that are given again where the same request is sent again.

-- What a request that accepts no capture was answered, sealed by the gateway; null while it is still being served.
alter table idempotency_key add column answer bytea;
