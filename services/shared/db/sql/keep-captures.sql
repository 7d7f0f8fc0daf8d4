-- The partitions of the captures that have ended, by the time in their ids, and their retention.

-- The least id of a capture accepted at a time: UUIDs of version 7 begin with the milliseconds.
create or replace function least_id(p_time timestamptz) returns uuid
language sql immutable as $$
  select (lpad(to_hex((extract(epoch from p_time) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- The partitions with an end, which is exclusive, the oldest first.
create or replace function capture_partitions() returns table (part text, ends_at timestamptz)
language sql stable as $$
  select c.relname::text,
         to_timestamp(('x' || substring(replace(b.text, '-', '') from 'TO \(''([0-9a-f]{12})'))::bit(48)::bigint / 1000.0)
    from pg_inherits i join pg_class c on c.oid = i.inhrelid cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as text) as b
   where i.inhparent = 'capture_ended'::regclass and b.text <> 'DEFAULT'
   order by 2
$$;

-- Creates partitions of p_days days each until one lies unused ahead, and a week in any case. Fails, to be tried again, if it waits a
-- fifth of a second for a lock: ends of captures wait behind it.
create or replace function keep_captures(p_days integer) returns void
language plpgsql as $$
declare
  v_today constant timestamptz := date_trunc('day', now(), 'utc');
  v_from timestamptz;
  v_to timestamptz;
  v_part text;
  v_in_range text;
  v_others integer;
begin
  perform pg_advisory_xact_lock(hashtext('shutterfleet keep_captures'));
  set local lock_timeout = '200ms';
  select coalesce(max(ends_at), v_today) into v_to from capture_partitions();
  while v_to < now() + greatest(p_days, 7) * interval '1 day' loop
    v_from := v_to;
    v_to := greatest(v_from, v_today) + p_days * interval '1 day';
    v_part := 'capture_ended_' || to_char(v_from at time zone 'utc', 'YYYYMMDD');
    v_in_range := format('capture_ended_other where id >= %L and id < %L', least_id(v_from), least_id(v_to));
    execute format('select count(*) from (select from %s limit 10001) as o', v_in_range) into v_others;
    -- More would keep ends waiting: they stay, and are removed one by one.
    continue when v_others > 10000;
    -- To attach a table takes a weaker lock than to create it as a partition: ends go on.
    execute format('create table %I (like capture_ended including all) with (
      autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
      autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02)', v_part);
    if v_others > 0 then
      -- Nobody holds a row of it meanwhile, so that no change of one is lost.
      lock table capture_ended_other in access exclusive mode;
      execute format('with moved as (delete from %s returning *) insert into %I select * from moved', v_in_range, v_part);
    end if;
    execute format('alter table capture_ended attach partition %I for values from (%L) to (%L)', v_part, least_id(v_from), least_id(v_to));
  end loop;
end
$$;

-- Drops the oldest partition of captures that were all accepted and ended p_days ago, whose images have expired and that have no
-- pending delivery; what else belongs to them is removed by its own age. So goes the table of before there were partitions. Returns its
-- name and the number of its captures; nothing if there is none, or somebody holds it for a fifth of a second. Deletes of its captures
-- wait; others for as long as the catalog changes.
create or replace function drop_captures(p_days integer, out part text, out removed bigint)
language plpgsql as $$
declare
  v_before constant timestamptz := now() - p_days * interval '1 day';
  v_is_over boolean;
begin
  set local lock_timeout = '200ms';
  for part in select 'capture_before' where to_regclass('capture_before') is not null
    union all select p.part from capture_partitions() as p where p.ends_at <= v_before loop
    execute format(
      'select not exists (select from %1$I where status in (''pending'', ''processing''))
          and not exists (select from %1$I where completed_at >= $1)
          and not exists (select from webhook_delivery d join %1$I c on c.id = d.capture_id where d.state = ''pending'')
          and not exists (select from %1$I where expires_at > now())', part) into v_is_over using v_before;
    continue when not v_is_over;
    begin
      execute format('lock table %I in exclusive mode', part);
      -- As uncount_ended, without the meters' locks: no accept counts a day that is long over.
      execute format(
        'with gone as materialized (
           select account_id, (created_at at time zone ''utc'')::date as day, count(*) filter (where status = ''completed'') as completed,
                  count(*) filter (where status = ''failed'') as failed
             from %I group by 1, 2
         ), emptied as (
           delete from capture_count n using gone g
            where n.account_id = g.account_id and n.day = g.day and n.completed = g.completed and n.failed = g.failed
         ), reduced as (
           update capture_count n set completed = n.completed - g.completed, failed = n.failed - g.failed from gone g
            where n.account_id = g.account_id and n.day = g.day and (n.completed <> g.completed or n.failed <> g.failed)
         )
         select coalesce(sum(completed + failed), 0) from gone', part) into removed;
      execute format('drop table %I', part);
      return;
    exception when lock_not_available then
      -- Another time.
      removed := null;
    end;
  end loop;
  part := null;
end
$$;
