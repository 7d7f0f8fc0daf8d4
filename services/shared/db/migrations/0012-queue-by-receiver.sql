-- Queues of receivers. Every sender announces what waits when it starts, what was queued before this migration
-- included.

-- One queue for each account and host. Only those with something due are looked at by who takes deliveries, so its cost
-- does not grow with what waits for later. webhook_arrival says that a queue has something that may be due earlier than
-- the queue knows: it is only inserted into where captures end, so that they wait for no sender, and applied by takers.
--
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

create table webhook_arrival (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null,
  host text not null,
  due_at timestamptz not null
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Since when a delivery waits: it was queued then, or asked for again.
alter table webhook_delivery add column queued_at timestamptz not null default now();
create index webhook_delivery_waiting on webhook_delivery (queued_at) where state = 'pending';
