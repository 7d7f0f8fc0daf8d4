-- The partitions of the captures that have ended, by the time in their ids, and their retention.

-- The least id of a capture accepted at a time: UUIDs of version 7 begin with the milliseconds.
create or replace function least_id(p_time timestamptz) returns uuid
language sql immutable as $$
  select (lpad(to_hex((extract(epoch from p_time) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- When a capture with this id was accepted, by its gateway's clock, to the millisecond.
create or replace function time_of(p_id uuid) returns timestamptz
language sql immutable as $$
  select to_timestamp(('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;

-- The partitions with an end, which is exclusive, the oldest first.
drop function if exists capture_partitions();
create function capture_partitions() returns table (part text, begins_at timestamptz, ends_at timestamptz)
language sql stable as $$
  select p.part, coalesce(time_of(substring(p.bound from 'FROM \(''([^'']+)')::uuid), '-infinity'),
         time_of(substring(p.bound from 'TO \(''([^'']+)')::uuid) as ends_at
    from (select c.relname::text as part, pg_get_expr(c.relpartbound, c.oid) as bound
            from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'capture_ended'::regclass
           -- So that no bound of another table's partition is read as an id.
           offset 0) as p
   where p.bound <> 'DEFAULT' order by ends_at
$$;

-- Creates the partition of captures from p_from, null for all before, to p_to, exclusive, and moves there what is in its range. Does nothing
-- if that are more than 10,000: they would keep ends waiting, so they stay, and are removed one by one.
drop function if exists add_captures(text, uuid, uuid);
create function add_captures(p_part text, p_from uuid, p_to uuid) returns void
language plpgsql as $$
declare
  v_in_range constant text := format('capture_ended_other where id < %L', p_to) || coalesce(format(' and id >= %L', p_from), '');
  v_others integer;
begin
  execute format('select count(*) from (select from %s limit 10001) as o', v_in_range) into v_others;
  if v_others > 10000 then
    return;
  end if;
  -- To attach a table takes a weaker lock than to create it as a partition: ends go on.
  execute format('create table %I (like capture_ended including all) with (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02)', p_part);
  -- Parent first, as all who use the table, and drop_captures.
  lock table only capture_ended in share update exclusive mode;
  if v_others > 0 then
    -- Nobody holds a row of it meanwhile, so that no change of one is lost.
    lock table capture_ended_other in access exclusive mode;
    execute format('with moved as (delete from %s returning *) insert into %I select * from moved', v_in_range, p_part);
  end if;
  execute format('alter table capture_ended attach partition %I for values from (%s) to (%L)', p_part,
                 coalesce(quote_literal(p_from), 'minvalue'), p_to);
end
$$;

-- Creates the partition of all that is older than the others, for captures that come from elsewhere: that of unexpected ids is read
-- whole whenever a partition is added, so it must stay small. Fails, to be retried, as keep_captures.
create or replace function keep_past_captures() returns void
language plpgsql as $$
declare
  v_begin timestamptz;
begin
  perform pg_advisory_xact_lock(hashtext('shutterfleet keep_captures'));
  set local lock_timeout = '200ms';
  v_begin := (select p.begins_at from capture_partitions() as p limit 1);
  if v_begin > '-infinity' then
    perform add_captures('capture_ended_before_' || to_char(v_begin at time zone 'utc', 'YYYYMMDD'), null, least_id(v_begin));
  end if;
end
$$;

-- Creates partitions of p_days days each until one lies unused ahead, and a week in any case. Fails, to be tried again, if it waits a
-- fifth of a second for a lock: ends of captures wait behind it.
create or replace function keep_captures(p_days integer) returns void
language plpgsql as $$
declare
  v_today constant timestamptz := date_trunc('day', now(), 'utc');
  v_from timestamptz;
  v_to timestamptz;
begin
  perform pg_advisory_xact_lock(hashtext('shutterfleet keep_captures'));
  set local lock_timeout = '200ms';
  select coalesce(max(ends_at), v_today) into v_to from capture_partitions();
  while v_to < now() + greatest(p_days, 7) * interval '24 hours' loop
    v_from := v_to;
    -- Hours: a day of the session's time zone may have 23. The days without a ledger, if any, have one partition.
    v_to := case when v_from < v_today then v_today else v_from + p_days * interval '24 hours' end;
    perform add_captures('capture_ended_' || to_char(v_from at time zone 'utc', 'YYYYMMDD'), least_id(v_from), least_id(v_to));
  end loop;
end
$$;

-- Drops the oldest partition of captures that were all accepted and ended p_days ago, whose images have expired and that have no
-- pending delivery; what else belongs to them, and the counts of its days, are removed by their own age. Returns its name and about
-- how many rows it had; nothing if there is none, or if somebody holds it for a fifth of a second. Others wait while the catalog
-- changes.
create or replace function drop_captures(p_days integer, out part text, out removed bigint)
language plpgsql as $$
declare
  v_before constant timestamptz := now() - p_days * interval '24 hours';
  v_recent boolean;
  v_is_over boolean;
begin
  -- Another ledger drops, or an account is copied here, which may add to what was found to be over.
  perform from cleanup_cursor where kind = 'capture' for update skip locked;
  if not found then
    return;
  end if;
  set local lock_timeout = '200ms';
  for part in select p.part from capture_partitions() as p where p.ends_at <= v_before loop
    execute format('select exists (select from %I where completed_at >= $1)', part) into v_recent using v_before;
    continue when v_recent;
    execute format(
      'select not exists (select from webhook_delivery d join %1$I c on c.id = d.capture_id where d.state = ''pending'')
          and not exists (select from %1$I where expires_at > now())', part) into v_is_over;
    continue when not v_is_over;
    begin
      -- Parent first, as all who use the table: dropping the partition locks it, and whoever has locked it may wait for the partition.
      lock table only capture_ended in access exclusive mode;
      execute format('lock table %I in access exclusive mode', part);
      -- A capture that waited for long may have ended, and moved here, since, or be delivered again.
      execute format(
        'select exists (select from %1$I where completed_at >= $1) or exists (
           select from webhook_delivery d join %1$I c on c.id = d.capture_id
            where d.state = ''pending'' and d.queued_at > now() - interval ''1 minute'')', part) into v_recent using v_before;
      continue when v_recent;
      select greatest(c.reltuples, 0) into removed from pg_class c where c.oid = part::regclass;
      execute format('drop table %I', part);
    exception when lock_not_available then
      continue;
    end;
    return;
  end loop;
  part := null;
end
$$;
