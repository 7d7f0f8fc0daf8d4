-- Accounts that may be switched off, maintenance, and a record of every change.

alter table account add column disabled_at timestamptz;

-- One change that somebody made to an account, a key, or the service. No foreign key: what was
-- done to an account stays known after it is erased.
create table audit_entry (
  id uuid primary key,
  at timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  detail json not null
);
create index audit_entry_at on audit_entry (at desc, id desc);

-- At most one row: while it stands nothing is accepted.
create table maintenance (
  id integer primary key default 1 constraint maintenance_id_check check (id = 1),
  since timestamptz not null
);
