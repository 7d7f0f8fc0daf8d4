-- Captures, batches, and what the ledger publishes, keeps and removes for them.
--
-- No foreign key from the tables that every accept writes: its check would lock the account's row each time.
--
-- PostgreSQL vacuums a table once a fifth of it is dead, by default: of a hundred million rows that is after twenty million. Large
-- tables are vacuumed after a hundredth, and analyzed after a fiftieth, so that the oldest part of an index is never long behind its
-- removals. Tables that fill and empty within seconds are vacuumed by number, not by share: what is dead there is read by every
-- statement that looks for what is due.

-- Captures that have not ended are in a small table of their own, the others in partitions by the time in their ids, so that old ones
-- are removed by dropping a table (see sql/keep-captures.sql). options and the like are json, not jsonb: they are only echoed, and json
-- keeps their order and every character.
create table capture (
  id uuid not null,
  -- 'open' until it ends, then 'ended'.
  part text not null,
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
  -- Of its request, for the relay, the ledger and the sender of webhooks.
  traceparent text,
  -- What identified its request, null for sessions and operators, and the request's id: support finds it by them.
  key_id uuid,
  request_id text,
  -- Place in the batch, from 0.
  batch_id uuid,
  batch_index integer,
  -- Where its end is sent, with the secrets that the caller put there.
  webhook_url text,
  -- SHA-256 of what identical requests have in common, shared for cache_seconds from completion on.
  cache_key bytea,
  cache_seconds integer,
  -- A follower waits for the capture of an identical request and ends with it, at no charge of its own.
  follows uuid,
  cached boolean not null default false,
  budget_ms integer not null,
  attempts integer not null default 0,
  unended_starts integer not null default 0,
  -- When the latest attempt began, or the capture was last sent again after it: from then on its budget runs.
  attempt_started_at timestamptz,
  -- First day of the period in which the charge was reserved.
  period date not null,
  charge text not null default 'reserved' check (charge in ('reserved', 'settled', 'released', 'free')),
  retention_seconds integer not null,
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
  -- Stored behind its image, in the same object: name, bytes, digest; bounded by the report that brings them.
  files jsonb,
  processing_time_ms integer,
  target_status integer,
  timings json,
  -- What a result quotes of the page and the request: its final URL, warnings and metadata, and the message of a worker. The worker
  -- seals it for gateway and sender; error_message, of the ledger, quotes nothing and stays plain.
  sealed_result text,
  error_code text,
  error_message text
) partition by list (part);
alter table capture alter column sealed set storage external;

-- Each index is one that a statement reads; those without a condition are written by every accept, and again by every begin.
create table capture_open partition of capture (check (status in ('pending', 'processing')), primary key (id)) for values in ('open')
with (fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create index capture_open_list on capture_open (account_id, created_at desc, id desc);
-- By lane and age: the oldest of a lane is found without reading past a large batch in another one.
create index capture_open_waiting on capture_open (pool, lane, created_at) where status = 'pending' and follows is null;
-- By the end of the attempt's budget: the ledger looks every second for those that are past it.
create index capture_open_deadline on capture_open
  (((attempt_started_at at time zone 'utc') + budget_ms * interval '1 millisecond'), id) where status = 'processing';
-- Those that were handed back and wait for their next attempt.
create index capture_open_handed_back on capture_open (created_at) where status = 'processing' and unended_starts = 0;
create index capture_open_batch on capture_open (batch_id, batch_index) where batch_id is not null;
create index capture_open_cache on capture_open (account_id, cache_key, created_at desc) where cache_key is not null;
create index capture_open_followers on capture_open (follows) where follows is not null;
-- Always empty: statements by object or by age need not read what waits.
create index capture_open_object on capture_open (object_key) where object_key is not null;
create index capture_open_age on capture_open (completed_at) where completed_at is not null;

create table capture_ended partition of capture (check (status in ('completed', 'failed')), check (follows is null), primary key (id))
for values in ('ended') partition by range (id);
create index capture_ended_list on capture_ended (account_id, created_at desc, id desc);
create index capture_ended_status on capture_ended (account_id, status, created_at desc, id desc);
create index capture_ended_age on capture_ended (completed_at);
create index capture_ended_expiry on capture_ended using brin (expires_at);
create index capture_ended_object on capture_ended (object_key) where object_key is not null;
create index capture_ended_batch on capture_ended (batch_id, batch_index) where batch_id is not null;
-- What support looks for, see list-captures.ts: the host of a URL is not secret, its path is sealed.
create index capture_ended_host on capture_ended (account_id, split_part(url, '/', 3), created_at desc, id desc) where url is not null;
create index capture_ended_key on capture_ended (key_id, created_at desc, id desc) where key_id is not null;
create index capture_ended_format on capture_ended (account_id, (options ->> 'format'), created_at desc, id desc);
create index capture_ended_error on capture_ended (account_id, error_code, created_at desc, id desc) where error_code is not null;
create index capture_ended_target on capture_ended (account_id, target_status, created_at desc, id desc) where target_status <> 200;
create index capture_ended_request on capture_ended using hash (request_id) where request_id is not null;
create index capture_ended_cache on capture_ended (account_id, cache_key, created_at desc) where cache_key is not null;
-- For ids beyond every other partition: of a clock that is ahead, or while no ledger has run for weeks.
create table capture_ended_other partition of capture_ended default with (fillfactor = 100,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

-- Captures that were accepted together, and what became of them; those that are deleted stay counted.
create table batch (
  id uuid primary key,
  account_id uuid not null,
  total integer not null,
  processing integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  created_at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
create index batch_account on batch (account_id, created_at desc, id desc);
create index batch_age on batch (created_at);

-- A request that may be sent again under the key that its caller gave it: what it asked for, and what it was accepted as.
create table idempotency_key (
  account_id uuid not null,
  key text not null,
  request_sha256 bytea not null,
  capture_id uuid,
  batch_id uuid,
  -- With this webhook the key goes.
  webhook_id uuid,
  -- Set while a request that accepts no capture is being served, whose answer is not kept yet.
  serving boolean not null default false,
  -- What such a request was answered, sealed by the gateway.
  answer bytea,
  created_at timestamptz not null,
  primary key (account_id, key)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
create index idempotency_key_capture on idempotency_key (capture_id) where capture_id is not null;
create index idempotency_key_webhook on idempotency_key (webhook_id) where webhook_id is not null;
create index idempotency_key_age on idempotency_key (created_at);

-- A capture that is not known to be in the queue.
create table outbox (
  capture_id uuid primary key,
  account_id uuid not null,
  pool text not null,
  lane text not null,
  created_at timestamptz not null,
  -- From when the relay publishes it; null while it waits for room in the window.
  relay_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index outbox_waiting on outbox (account_id, pool, lane, created_at, capture_id) where relay_at is null;
create index outbox_due on outbox (relay_at) where relay_at is not null;

-- An object that a record refers to.
create table stored_object (
  key text primary key,
  capture_id uuid not null,
  bytes bigint not null,
  sha256 text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
create index stored_object_expiry on stored_object (expires_at);

-- An object that nothing refers to any more, to be deleted from the store.
create table object_removal (
  key text primary key,
  not_before timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index object_removal_due on object_removal (not_before);

-- One row for each time that the ledger removes what a deleted capture left outside of the database.
create table deletion (
  capture_id uuid not null,
  step smallint not null,
  account_id uuid not null,
  pool text not null,
  lane text not null,
  accepted_at timestamptz not null,
  due_at timestamptz not null,
  primary key (capture_id, step)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index deletion_due on deletion (due_at);

-- How far rows have been looked at that may be over. Its row's lock is the claim of the ledger that removes. What could not be removed
-- then is looked at again at due_at, not with every batch.
create table cleanup_cursor (
  kind text primary key constraint cleanup_cursor_kind_check check (kind in ('capture', 'batch')),
  done_until timestamptz not null
);
insert into cleanup_cursor values ('capture', '-infinity'), ('batch', '-infinity');

-- A row that could not be removed when it was looked at, and when it is looked at again.
create table late_cleanup (
  kind text not null,
  id uuid not null,
  due_at timestamptz not null,
  primary key (kind, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index late_cleanup_due on late_cleanup (kind, due_at);

-- One row of the search for objects without a record: the last key that was looked at, since when this pass goes, and until when a
-- ledger has claimed the next page.
create table orphan_sweep (
  id integer primary key default 1 constraint orphan_sweep_id_check check (id = 1),
  after_key text not null,
  began_at timestamptz not null,
  claimed_until timestamptz
);
insert into orphan_sweep (after_key, began_at) values ('', now());
