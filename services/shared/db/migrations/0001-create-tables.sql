-- The tables of accounts, meters, captures and the outbox.

create table plan (
  slug text primary key,
  name text not null,
  screenshots_per_month integer,
  rate_limit_per_minute integer,
  retention_seconds integer not null,
  features text[] not null,
  overage_price numeric,
  max_api_keys integer,
  max_pending integer not null,
  weight integer not null,
  price_monthly numeric,
  currency text,
  position integer not null
);

create table account (
  id uuid primary key,
  name text not null,
  email text not null,
  plan text not null constraint account_plan_foreign references plan (slug),
  created_at timestamptz not null
);

create table api_key (
  id uuid primary key,
  account_id uuid not null constraint api_key_account_id_foreign references account (id) on delete cascade,
  name text not null,
  prefix text not null,
  key_hash bytea not null unique,
  domains text[] not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null
);
create index api_key_account on api_key (account_id);

-- One row each, updated by every accept: room on the page (fillfactor) and no index on what changes keep those updates
-- inside the page. The tables stay small, so vacuum comes early.
create table account_meter (
  account_id uuid primary key constraint account_meter_account_id_foreign references account (id) on delete cascade,
  minute timestamptz,
  requests integer not null default 0,
  pending integer not null default 0
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- What an account has used of a period: reserved at accept, settled once completed.
create table usage (
  account_id uuid not null constraint usage_account_id_foreign references account (id) on delete cascade,
  period date not null,
  reserved integer not null default 0,
  settled integer not null default 0,
  primary key (account_id, period)
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- The captures of one lane of an account: admitted and not ended, waiting for room, and begun. What is admitted and has
-- not begun is what the window bounds.
create table lane_meter (
  account_id uuid not null constraint lane_meter_account_id_foreign references account (id) on delete cascade,
  pool text not null,
  lane text not null,
  accepted bigint not null default 0,
  admitted integer not null default 0,
  waiting integer not null default 0,
  processing integer not null default 0,
  primary key (account_id, pool, lane)
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- No foreign key from the tables that every accept writes: its check would lock the account's row each time. options
-- and the like are json, not jsonb: they are only echoed, and json keeps their order and every character.
create table capture (
  id uuid primary key,
  account_id uuid not null,
  pool text not null,
  lane text not null,
  status text not null default 'pending' check (status in ('pending', 'processing', 'completed', 'failed')),
  url text,
  -- What the record echoes, secrets masked.
  options json not null,
  -- What only a worker can open; erased with the terminal status.
  sealed bytea,
  token_hash bytea not null,
  budget_ms integer not null,
  attempts integer not null default 0,
  unended_starts integer not null default 0,
  -- When the latest attempt began, or the capture was last sent again after it: from then on its budget runs.
  attempt_started_at timestamptz,
  -- First day of the period in which the charge was reserved.
  period date not null,
  charge text not null default 'reserved' check (charge in ('reserved', 'settled', 'released')),
  retention_seconds integer not null,
  cached boolean not null default false,
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,
  expires_at timestamptz,
  object_key text,
  file_size bigint,
  sha256 text,
  mime_type text,
  width integer,
  height integer,
  processing_time_ms integer,
  target_status integer,
  final_url text,
  warnings json,
  timings json,
  error_code text,
  error_message text
) with (fillfactor = 85);
alter table capture alter column sealed set storage external;
create index capture_list on capture (account_id, created_at desc, id desc);
create index capture_pending on capture (pool, created_at) where status = 'pending';
create index capture_processing on capture (attempt_started_at) where status = 'processing';

-- An object that a record refers to.
create table stored_object (
  key text primary key,
  capture_id uuid not null,
  bytes bigint not null,
  sha256 text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index stored_object_expiry on stored_object (expires_at);

-- An object that nothing refers to any more, to be deleted from the store.
create table object_removal (
  key text primary key,
  not_before timestamptz not null
);

-- A capture that is not known to stand in the queue.
create table outbox (
  capture_id uuid primary key,
  account_id uuid not null,
  pool text not null,
  lane text not null,
  created_at timestamptz not null,
  relay_at timestamptz
);
create index outbox_waiting on outbox (account_id, pool, lane, created_at, capture_id) where relay_at is null;
create index outbox_due on outbox (relay_at) where relay_at is not null;
comment on column outbox.relay_at is 'From when the relay publishes it; null while it waits for room in the window';

-- Which text of a replaceable SQL function the database holds.
create table sql_function (
  name text primary key,
  sha256 text not null
);
