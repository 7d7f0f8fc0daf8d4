-- Since when an account is being moved to another installation, which holds up its changes. It is not here if it is also disabled:
-- not yet, or no longer.
alter table account add column moving_at timestamptz;
