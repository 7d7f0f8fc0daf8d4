-- Where the removal of rows and the search for orphans have come to.

-- How far rows have been looked at that may be over. Its row's lock is the claim of the ledger that removes. What could
-- not be removed when it was looked at is looked at again at due_at, not with every batch.
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
);
create index late_cleanup_due on late_cleanup (kind, due_at);

-- One row: the last key that was looked at, since when this pass goes, and until when a ledger has claimed the next
-- page.
create table orphan_sweep (
  id integer primary key default 1 constraint orphan_sweep_id_check check (id = 1),
  after_key text not null,
  began_at timestamptz not null,
  claimed_until timestamptz
);
insert into orphan_sweep (after_key, began_at) values ('', now());
create index object_removal_due on object_removal (not_before);
