-- The trace context of a capture's request, for the relay, the ledger and the sender of webhooks.

alter table capture add column traceparent text;
