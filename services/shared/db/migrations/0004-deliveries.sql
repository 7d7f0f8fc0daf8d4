-- Webhooks and buckets of accounts, and what is delivered to them.

-- The secrets are apart, and sealed: only the sender opens them, and nothing that lists webhooks reads them.
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

-- Buckets of accounts, to which images are uploaded. An upload is a delivery: it is queued, leased, retried and recorded as
-- webhooks are.
create table upload_destination (
  id uuid primary key,
  account_id uuid not null constraint upload_destination_account_id_foreign references account (id) on delete cascade,
  -- By which captures name it.
  name text not null,
  endpoint text not null,
  region text not null,
  bucket text not null,
  path_style boolean not null,
  -- URL of the bucket, without a slash at its end.
  url text not null,
  -- Template that begins every key.
  prefix text not null,
  access_key_id text not null,
  -- The secret access key, which only the sender opens.
  sealed_secret bytea not null,
  created_at timestamptz not null,
  unique (account_id, name)
);

-- Webhooks that were changed, and webhooks and upload destinations that were deleted: any number of deliveries may have to follow.
create table receiver_change (
  -- Of the webhook or destination.
  id uuid primary key,
  account_id uuid not null,
  -- What a webhook has pending from before fails; null if it was not deactivated.
  deactivated_at timestamptz,
  -- When its deliveries are walked on, from the newest to the oldest; the second time for what was locked or queued meanwhile.
  due_at timestamptz not null,
  is_second boolean not null default false,
  -- The oldest delivery so far.
  walked_at timestamptz not null default 'infinity',
  walked_id uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff'
);

-- No foreign key to captures, webhooks and destinations: rows are written where captures end, and must hold up nobody. The partial
-- indexes hold only what waits, so a long log costs the sender nothing.
create table webhook_delivery (
  id uuid primary key,
  account_id uuid not null,
  capture_id uuid,
  -- Null for the address that a request named, and for uploads.
  webhook_id uuid,
  upload_destination_id uuid,
  -- Whole, with the secrets that callers put there.
  url text not null,
  -- Host and port as they stand in the address: deliveries of one account to one host wait for each other.
  host text not null,
  event text not null,
  -- The event's data where it is not a capture's record.
  subject json,
  -- What is sent, byte by byte, sealed; made at the first attempt.
  body text,
  -- When the first attempt began.
  sent_at timestamptz,
  attempts integer not null default 0,
  -- Failed attempts since it was queued, or asked for again.
  failures integer not null default 0,
  next_attempt_at timestamptz,
  -- How often it was taken: a sender's writes name the take that they belong to.
  takes integer not null default 0,
  -- Until when the sender that took it has it to itself.
  leased_until timestamptz,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  created_at timestamptz not null,
  -- Since when it waits: it was queued then, or asked for again.
  queued_at timestamptz not null default now()
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
create index webhook_delivery_due on webhook_delivery (account_id, host, next_attempt_at) where state = 'pending';
create index webhook_delivery_waiting on webhook_delivery (queued_at) where state = 'pending';
create index webhook_delivery_leased on webhook_delivery (leased_until) where leased_until is not null;
create index webhook_delivery_account on webhook_delivery (account_id);
create index webhook_delivery_capture on webhook_delivery (capture_id) where capture_id is not null;
create index webhook_delivery_webhook on webhook_delivery (webhook_id, created_at desc, id desc)
  where webhook_id is not null;
create index webhook_delivery_upload on webhook_delivery (upload_destination_id, created_at desc)
  where upload_destination_id is not null;
-- Deliveries are removed by age, uploads with their captures, whose records show them.
create index webhook_delivery_age on webhook_delivery (created_at) where upload_destination_id is null or capture_id is null;

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
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

-- One queue for each account and host. Only those with something due are looked at by who takes deliveries, so its cost
-- does not grow with what waits for later.
create table webhook_queue (
  account_id uuid not null,
  host text not null,
  -- When its next delivery may be due; null while nothing waits that is not in flight.
  due_at timestamptz,
  -- Most deliveries in flight.
  parallel integer not null default 2,
  -- Times in a row that attempts ended without an answer; those that end together count once.
  unanswered integer not null default 0,
  -- Until when a receiver that does not answer is left alone.
  paused_until timestamptz,
  -- When something was last taken from it.
  used_at timestamptz not null default now(),
  primary key (account_id, host)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
create index webhook_queue_due on webhook_queue (due_at) where due_at is not null;
create index webhook_queue_idle on webhook_queue (used_at) where due_at is null;

-- That a queue has something which may be due earlier than the queue knows: only inserted into where captures end, so that they wait
-- for no sender, and applied by who takes deliveries.
create table webhook_arrival (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null,
  host text not null,
  due_at timestamptz not null
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Until when a sender polls; one row, which senders move forward at most twice a second.
create table webhook_polling (polled_until timestamptz not null);
insert into webhook_polling values ('-infinity');

-- Whoever has something to be delivered wakes the senders as its transaction commits. For each row, since a statement
-- that inserts none would wake them too; of one transaction they are notified once. Busy senders poll, and are not notified:
-- notifications are sent under one lock, for which commits wait.
create function wake_senders() returns trigger language plpgsql as $$
begin
  if not exists (select from webhook_polling where polled_until > clock_timestamp()) then
    notify shutterfleet_deliveries;
  end if;
  return null;
end
$$;

-- Deferred to the commit, so that a sender that has announced its end of polling need not poll for a whole transaction.
create constraint trigger webhook_arrival_wakes after insert on webhook_arrival
  deferrable initially deferred for each row execute function wake_senders();
