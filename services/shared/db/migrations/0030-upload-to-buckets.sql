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

-- No foreign key: rows are written where captures end, and must hold up nobody.
alter table webhook_delivery add column upload_destination_id uuid;
create index webhook_delivery_upload on webhook_delivery (upload_destination_id, created_at desc)
  where upload_destination_id is not null;

-- Deliveries are removed by age, uploads with their captures, whose records show them.
drop index webhook_delivery_age;
create index webhook_delivery_age on webhook_delivery (created_at) where upload_destination_id is null or capture_id is null;
