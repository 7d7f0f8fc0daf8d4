-- Captures that have not ended in a small table of their own, those that have by the time in their ids, so that old ones are removed
-- by dropping a table (see sql/keep-captures.sql). The table of before becomes a partition as it is, with its captures that have not
-- ended: nothing is copied, and only names change under the lock.

alter table capture validate constraint capture_part_none;

create table capture_partitioned (like capture including all excluding constraints excluding indexes,
  constraint capture_status_check check (status in ('pending', 'processing', 'completed', 'failed')),
  constraint capture_charge_check check (charge in ('reserved', 'settled', 'released', 'free'))
) partition by list (part);

-- Each index is one that a statement reads; those without a condition are written by every accept, and again by every begin.
create table capture_open (like capture_partitioned including all,
  check (part = 'open' and part is not null), check (status in ('pending', 'processing')), primary key (id)
) with (fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create index capture_open_list on capture_open (account_id, created_at desc, id desc);
create index capture_open_waiting on capture_open (pool, lane, created_at) where status = 'pending' and follows is null;
create index capture_open_deadline on capture_open
  (((attempt_started_at at time zone 'utc') + budget_ms * interval '1 millisecond'), id) where status = 'processing';
create index capture_open_handed_back on capture_open (created_at) where status = 'processing' and unended_starts = 0;
create index capture_open_batch on capture_open (batch_id, batch_index) where batch_id is not null;
create index capture_open_cache on capture_open (account_id, cache_key, created_at desc) where cache_key is not null;
create index capture_open_followers on capture_open (follows) where follows is not null;
-- Always empty: statements by object or by age need not read what waits.
create index capture_open_object on capture_open (object_key) where object_key is not null;
create index capture_open_age on capture_open (completed_at) where completed_at is not null;

-- The index of before has this name, and renaming it locks nobody.
alter index capture_ended rename to capture_before_ended;
create table capture_ended (like capture_partitioned including all,
  check (part = 'ended' and part is not null), check (status in ('completed', 'failed')), check (follows is null), primary key (id)
) partition by range (id);
create index capture_ended_list on capture_ended (account_id, created_at desc, id desc);
create index capture_ended_status on capture_ended (account_id, status, created_at desc, id desc);
create index capture_ended_age on capture_ended (completed_at);
create index capture_ended_expiry on capture_ended using brin (expires_at);
create index capture_ended_object on capture_ended (object_key) where object_key is not null;
create index capture_ended_batch on capture_ended (batch_id, batch_index) where batch_id is not null;
create index capture_ended_cache on capture_ended (account_id, cache_key, created_at desc) where cache_key is not null;
-- For ids beyond every other partition: of a clock that is ahead, or while no ledger has run for weeks.
create table capture_ended_other partition of capture_ended default with (fillfactor = 100,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

do $$
begin
  for tries in 1 .. 300 loop
    begin
      set local lock_timeout = '100ms';
      lock table capture in access exclusive mode;
      exit;
    exception when lock_not_available then
      if tries = 300 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
end
$$;
-- Since 0032 what waits is found by `capture_waiting`.
drop index capture_pending;
alter table capture rename to capture_before;
alter table capture_partitioned rename to capture;
alter table capture attach partition capture_before for values in (null);
alter table capture attach partition capture_open for values in ('open');
alter table capture attach partition capture_ended for values in ('ended');
