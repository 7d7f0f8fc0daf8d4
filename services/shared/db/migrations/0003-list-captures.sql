-- Counts by day, and lists of captures by status.

-- How many captures of an account, by the UTC day of their acceptance, have completed and failed and are still there.
-- Only the row of the present day changes often; room on its page keeps those updates inside of it.
create table capture_count (
  account_id uuid not null constraint capture_count_account_id_foreign references account (id) on delete cascade,
  day date not null,
  completed integer not null default 0,
  failed integer not null default 0,
  primary key (account_id, day)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

insert into capture_count (account_id, day, completed, failed)
select c.account_id, (c.created_at at time zone 'utc')::date,
       count(*) filter (where c.status = 'completed'), count(*) filter (where c.status = 'failed')
  from capture c join account a on a.id = c.account_id
 where c.status in ('completed', 'failed') group by 1, 2;

-- A list of one status needs an index of its own: through capture_list the three pending captures of an account are
-- found only by reading all its others. Two partial ones, because a status changes twice: the one of captures that have
-- not ended is what accept and begin write, and it stays so small that its pages are always at hand; the large one is
-- written once for each capture, by the ledger, at the end. One index over all statuses would take the same three
-- writes, all of them in the large one.
create index capture_list_open on capture (account_id, status, created_at desc, id desc)
  where status in ('pending', 'processing');
create index capture_list_ended on capture (account_id, status, created_at desc, id desc)
  where status in ('completed', 'failed');
