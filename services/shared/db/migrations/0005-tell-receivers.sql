-- Webhooks of accounts, and the log of what was sent to receivers.

-- The secrets stand apart, and sealed: only the sender opens them, and nothing that lists webhooks reads them.
create table webhook (
  id uuid primary key,
  account_id uuid not null constraint webhook_account_id_foreign references account (id) on delete cascade,
  url text not null,
  -- Names of events that it gets.
  events text[] not null,
  description text not null,
  active boolean not null,
  created_at timestamptz not null,
  -- End of the latest attempt, successful or not.
  last_delivery_at timestamptz
) with (fillfactor = 70);
create index webhook_account on webhook (account_id);

create table webhook_secret (
  webhook_id uuid primary key constraint webhook_secret_webhook_id_foreign references webhook (id) on delete cascade,
  sealed bytea not null,
  -- The secret before the latest rotation, used beside the new one until previous_until.
  previous_sealed bytea,
  previous_until timestamptz
);

-- No foreign key to captures and webhooks: rows are written where captures end, and must hold up nobody. The partial
-- indexes hold only what waits, so a long log costs the sender nothing.
create table webhook_delivery (
  id uuid primary key,
  account_id uuid not null,
  capture_id uuid,
  -- Null for the address that a request named.
  webhook_id uuid,
  -- Whole, with the secrets that callers put there.
  url text not null,
  -- Host and port as they stand in the address: deliveries of one account to one host wait for each other.
  host text not null,
  event text not null,
  -- The event's data where it is not a capture's record.
  subject json,
  -- What is sent, byte by byte; made at the first attempt.
  body text,
  -- When the first attempt began.
  sent_at timestamptz,
  attempts integer not null default 0,
  -- Failed attempts since it was queued, or asked for again.
  failures integer not null default 0,
  next_attempt_at timestamptz,
  -- Until when the sender that took it has it to itself.
  leased_until timestamptz,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  created_at timestamptz not null
) with (fillfactor = 70);
create index webhook_delivery_due on webhook_delivery (account_id, host, next_attempt_at) where state = 'pending';
create index webhook_delivery_leased on webhook_delivery (leased_until) where leased_until is not null;
create index webhook_delivery_capture on webhook_delivery (capture_id) where capture_id is not null;
create index webhook_delivery_webhook on webhook_delivery (webhook_id, created_at desc, id desc)
  where webhook_id is not null;
create index webhook_delivery_age on webhook_delivery (created_at);

-- One try at a delivery, numbered from 1. status: of the answer, null where there was none; error: why it failed, as a
-- word, null where it did not.
create table webhook_attempt (
  delivery_id uuid not null
    constraint webhook_attempt_delivery_id_foreign references webhook_delivery (id) on delete cascade,
  number integer not null,
  at timestamptz not null,
  status integer,
  ms integer not null,
  error text,
  primary key (delivery_id, number)
);
