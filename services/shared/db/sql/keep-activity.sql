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
    part := 'activity_' || to_char(day, 'YYYYMMDD');
    continue when to_regclass(part) is not null;
    -- To attach a table takes a weaker lock than to create it as a partition: inserts go on.
    execute format('create table %I (like activity including constraints)', part);
    execute format('alter table activity attach partition %I for values from (%L) to (%L)', part, day || 'T00:00Z',
                   (day + 1) || 'T00:00Z');
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
