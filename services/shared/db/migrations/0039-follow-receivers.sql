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
