-- Batches, shared results, and requests that are sent again.

-- Captures that were accepted together, and what became of them; those that are deleted stay counted.
create table batch (
  id uuid primary key,
  account_id uuid not null,
  total integer not null,
  processing integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  created_at timestamptz not null
) with (fillfactor = 70);

-- batch_index: place in the batch, from 0. webhook_url: where its end is sent, with the secrets that the caller put
-- there. cache_key: SHA-256 of what identical requests have in common, shared for cache_seconds from completion on.
-- A follower waits for the capture of an identical request and ends with it, at no charge of its own. Indexes are
-- partial, so that a plain capture pays for none of them but the one by object.
alter table capture
  add column batch_id uuid,
  add column batch_index integer,
  add column webhook_url text,
  add column cache_key bytea,
  add column cache_seconds integer,
  add column follows uuid;
alter table capture drop constraint capture_charge_check;
alter table capture add constraint capture_charge_check check (charge in ('reserved', 'settled', 'released', 'free'));
create index capture_batch on capture (batch_id, batch_index) where batch_id is not null;
create index capture_cache on capture (account_id, cache_key, created_at desc) where cache_key is not null;
create index capture_followers on capture (follows) where follows is not null;
create index capture_object on capture (object_key) where object_key is not null;

-- A request that may be sent again under the key that its caller gave it: what it asked for, and what it was accepted as.
create table idempotency_key (
  account_id uuid not null,
  key text not null,
  request_sha256 bytea not null,
  capture_id uuid,
  batch_id uuid,
  created_at timestamptz not null,
  primary key (account_id, key)
);
create index idempotency_key_capture on idempotency_key (capture_id) where capture_id is not null;
create index idempotency_key_age on idempotency_key (created_at);
