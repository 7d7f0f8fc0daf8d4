-- Deleted captures, and the order in which rows become old.

-- One row for each time that the ledger goes after what a deleted capture left outside of the database.
create table deletion (
  capture_id uuid not null,
  step smallint not null,
  account_id uuid not null,
  pool text not null,
  lane text not null,
  accepted_at timestamptz not null,
  due_at timestamptz not null,
  primary key (capture_id, step)
);
create index deletion_due on deletion (due_at);

create index capture_ended on capture (completed_at) where completed_at is not null;
create index batch_age on batch (created_at);
