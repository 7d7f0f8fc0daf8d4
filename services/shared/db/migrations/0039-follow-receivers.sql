-- Webhooks that were changed and webhooks and upload destinations that were deleted: any number of deliveries may have to follow.
create table receiver_change (
  -- Of the webhook or destination.
  id uuid primary key,
  account_id uuid not null,
  changed_at timestamptz not null
);
