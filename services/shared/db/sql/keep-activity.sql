-- Creates the partition of a day, if there is none.
create or replace function add_activity_day(p_day date) returns void
language plpgsql as $$
declare
  part constant text := 'activity_' || to_char(p_day, 'YYYYMMDD');
  grantee text;
begin
  if to_regclass(part) is not null then
    return;
  end if;
  -- To attach a table takes a weaker lock than to create it as a partition: inserts go on.
  execute format('create table %I (like activity including constraints)', part);
  -- An erasure deletes from the partition itself.
  for grantee in select a.grantee::regrole::text from pg_class c, aclexplode(c.relacl) as a
                  where c.oid = 'activity'::regclass and a.privilege_type = 'DELETE' and a.grantee <> c.relowner loop
    execute format('grant select, delete on %I to %s', part, grantee);
  end loop;
  execute format('alter table activity attach partition %I for values from (%L) to (%L)', part, p_day || 'T00:00Z',
                 (p_day + 1) || 'T00:00Z');
end
$$;

-- Creates the partitions of `activity` from yesterday to a week ahead, and drops those of the days before the last p_days. Returns how
-- many were dropped. Fails, to be tried again, if it waits two seconds for a lock: inserts and reads wait behind it.
create or replace function keep_activity(p_days integer) returns integer
language plpgsql as $$
declare
  today constant date := (now() at time zone 'utc')::date;
  day date;
  part text;
  dropped integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('shutterfleet keep_activity'));
  set local lock_timeout = '2s';
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    perform add_activity_day(day);
  end loop;
  for part in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
               where i.inhparent = 'activity'::regclass
                 and c.relname < 'activity_' || to_char(today - p_days, 'YYYYMMDD') loop
    execute format('drop table %I', part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;
