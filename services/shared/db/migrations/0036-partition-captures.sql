-- Captures by the time in their ids, so that old ones are removed by dropping a table (see sql/keep-captures.sql). The table of before
-- becomes the first partition as it is: nothing is copied, and only names change under the lock.

alter table capture validate constraint capture_id_bound;

create table capture_partitioned (like capture including all excluding constraints excluding indexes) partition by range (id);

do $$
declare
  v_index record;
  v_check record;
  v_end constant text := (select substring(pg_get_constraintdef(oid) from '''([0-9a-f-]{36})''') from pg_constraint
                           where conrelid = 'capture'::regclass and conname = 'capture_id_bound');
begin
  for v_check in select conname, pg_get_constraintdef(oid) as text from pg_constraint
                  where conrelid = 'capture'::regclass and contype = 'c' and conname <> 'capture_id_bound' loop
    execute format('alter table capture_partitioned add constraint %I %s', v_check.conname, v_check.text);
  end loop;
  -- Since 0032 what waits is found by `capture_waiting`.
  drop index capture_pending;
  for v_index in select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as text, indisprimary as is_key from pg_index
                  where indrelid = 'capture'::regclass loop
    execute format('alter index %s rename to %I', v_index.name, v_index.name || '_before');
    if v_index.is_key then
      alter table capture_partitioned add constraint capture_pkey primary key (id);
    else
      execute regexp_replace(v_index.text, ' ON \S+ USING ', ' ON capture_partitioned USING ');
    end if;
  end loop;

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
  alter table capture rename to capture_before;
  alter table capture_partitioned rename to capture;
  execute format('alter table capture attach partition capture_before for values from (minvalue) to (%L)', v_end);
  alter table capture_before drop constraint capture_id_bound;
end
$$;

-- For ids beyond every other partition: of a clock that is ahead, or while no ledger has run for weeks.
create table capture_other partition of capture default with (fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
