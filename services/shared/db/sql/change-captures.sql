-- Applies the decisions of change-captures.ts to captures whose rows its transaction has locked, in order of id:
-- updates the rows and every meter, so that each capture leaves `pending` once and ends once, with one charge.
-- Followers end with their leader. A capture that begins or ends while it waits for room stops waiting. Returns whether
-- room was freed in a window that captures wait for, and the followers that ended. Lock order: see check-request.sql.

drop type if exists capture_change cascade;
create type capture_change as (
  id uuid, account_id uuid, pool text, lane text, period date, batch_id uuid, may_lead boolean,
  was text, status text,
  attempts integer, unended_starts integer, attempt_begins boolean, begun_ms_ago integer, ends boolean,
  object_key text, file_size bigint, sha256 text, mime_type text, width integer, height integer,
  processing_time_ms integer, target_status integer, sealed_result text, timings json,
  files jsonb, error_code text, error_message text
);

drop function if exists change_captures(json, text[]);
create function change_captures(p_changes json, p_losers text[], out room_made boolean, out followers json)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_changes constant capture_change[] := array(select n from json_populate_recordset(null::capture_change, p_changes) as n);
  v_waiting uuid[];
  v_ended capture[];
  v_followers capture[] := '{}';
begin
  with changed as (
    update capture c
       set status = n.status,
           part = case when n.ends then 'ended' else 'open' end,
           attempts = n.attempts,
           unended_starts = n.unended_starts,
           attempt_started_at = case when n.attempt_begins then n.begun_at else c.attempt_started_at end,
           started_at = coalesce(c.started_at, case when n.attempts > 0 then greatest(c.created_at, n.begun_at) end),
           completed_at = case when n.ends then v_now end,
           expires_at = case when n.status = 'completed' then v_now + c.retention_seconds * interval '1 second' end,
           charge = case when n.status = 'completed' then 'settled' when n.ends then 'released' else c.charge end,
           sealed = case when n.ends then null else c.sealed end,
           object_key = n.object_key, file_size = n.file_size, sha256 = n.sha256, mime_type = n.mime_type,
           width = n.width, height = n.height, processing_time_ms = n.processing_time_ms,
           target_status = n.target_status, sealed_result = n.sealed_result, timings = n.timings,
           files = n.files, error_code = n.error_code, error_message = n.error_message,
           cache_key = case when n.status = 'failed' then null else c.cache_key end
      from (select u.*, v_now - coalesce(u.begun_ms_ago, 0) * interval '1 millisecond' as begun_at
              from unnest(v_changes) as u) as n
     where c.id = n.id and c.part = 'open'
    returning c as capture
  )
  select coalesce(array_agg(k.capture) filter (where (k.capture).completed_at is not null), '{}') into v_ended from changed k;

  with gone as (
    delete from outbox where capture_id in (
      select o.capture_id from outbox o join unnest(v_changes) as n on n.id = o.capture_id
       where n.ends or n.status <> 'pending' and o.relay_at is null order by o.capture_id for update of o)
    returning capture_id, relay_at
  )
  select coalesce(array_agg(capture_id) filter (where relay_at is null), '{}') into v_waiting from gone;

  insert into object_removal (key, not_before) select key, v_now from unnest(p_losers) as l (key)
      on conflict do nothing;
  insert into stored_object (key, capture_id, bytes, sha256, created_at, expires_at)
  -- The bytes are those of the whole object, with the files behind the image; the digest is of the image.
  select c.object_key, c.id,
         c.file_size + coalesce((select sum((f ->> 'bytes')::bigint) from jsonb_array_elements(c.files) as f), 0), c.sha256, v_now, c.expires_at
    from unnest(v_ended) as c where c.status = 'completed';

  perform from account_meter where account_id in (select n.account_id from unnest(v_changes) as n)
    order by account_id for update;
  update account_meter m set pending = m.pending + d.pending
    from (select n.account_id,
                 count(*) filter (where n.status = 'pending') - count(*) filter (where n.was = 'pending') as pending
            from unnest(v_changes) as n group by 1) as d
   where m.account_id = d.account_id and d.pending <> 0;
  update usage u set reserved = u.reserved - d.ended, settled = u.settled + d.completed
    from (select n.account_id, n.period, count(*) as ended, count(*) filter (where n.status = 'completed') as completed
            from unnest(v_changes) as n where n.ends group by 1, 2) as d
   where u.account_id = d.account_id and u.period = d.period;
  update lane_meter l
     set admitted = l.admitted + d.admitted, waiting = l.waiting - d.waiting, processing = l.processing + d.processing
    from (select n.account_id, n.pool, n.lane,
                 count(*) filter (where n.id = any (v_waiting)) - count(*) filter (where n.ends) as admitted,
                 count(*) filter (where n.id = any (v_waiting)) as waiting,
                 count(*) filter (where n.status = 'processing')
                   - count(*) filter (where n.was = 'processing') as processing
            from unnest(v_changes) as n group by 1, 2, 3) as d
   where l.account_id = d.account_id and l.pool = d.pool and l.lane = d.lane;

  if exists (select from unnest(v_changes) as n where n.ends and n.may_lead) then
    v_followers := end_followers(array(
      select c from unnest(v_ended) as c where c.id in (select n.id from unnest(v_changes) as n where n.may_lead)));
  end if;
  if exists (select from unnest(v_changes) as n where n.batch_id is not null) then
    update batch b
       set processing = b.processing + d.processing, completed = b.completed + d.completed, failed = b.failed + d.failed
      from (select n.batch_id,
                   count(*) filter (where n.status = 'processing')
                     - count(*) filter (where n.was = 'processing') as processing,
                   count(*) filter (where n.ends and n.status = 'completed') as completed,
                   count(*) filter (where n.ends and n.status = 'failed') as failed
              from unnest(v_changes) as n where n.batch_id is not null group by 1) as d
     where b.id = d.batch_id;
  end if;

  v_ended := v_ended || v_followers;
  if cardinality(v_ended) > 0 then
    perform count_ended(v_ended);
    perform queue_deliveries(v_ended);
  end if;

  followers := '[]';
  if cardinality(v_followers) > 0 then
    followers := (
      select json_agg(json_build_object('id', f.id, 'accountId', f.account_id, 'pool', f.pool, 'lane', f.lane,
                                        'status', f.status, 'objectKey', f.object_key))
        from unnest(v_followers) as f);
  end if;
  room_made := exists (
    select from lane_meter l join unnest(v_changes) as n
        on n.account_id = l.account_id and n.pool = l.pool and n.lane = l.lane
     where n.was = 'pending' and n.status <> 'pending' and l.waiting > 0);
end
$$;
