-- Accepts the captures of one batch, all or none, in one call: the checks of accept_capture in their order, the waiting
-- bound and the quota for all members together. The arrays are of one length and hold the members' own values; the
-- members' outbox times are a microsecond apart, which keeps their order. Members that share a result are not charged.
-- `admitted_ids`: the members to publish; `admitted`: whether no member waits for room. Locks as accept_capture.

create or replace function accept_batch(
  p_key_hash bytea, p_origin_host text, p_features text[], p_window integer, p_relay_after_ms integer, p_counted boolean,
  p_batch_id uuid, p_pool text, p_lane text, p_budget_ms integer, p_webhook_url text, p_cache_seconds integer,
  p_idempotency_key text, p_request_sha256 bytea,
  p_ids uuid[], p_urls text[], p_options text[], p_sealed bytea[], p_token_hashes bytea[], p_cache_keys bytea[],
  p_traceparent text default null, p_account_id uuid default null, p_targets_sha256 bytea default null,
  p_request_id text default null
) returns request_check
language plpgsql as $$
declare
  c request_check := check_request(p_key_hash, p_origin_host, p_counted, p_account_id, '{capture}');
  v_total constant integer := cardinality(p_ids);
  v_source shareable;
  v_sources uuid[] := array_fill(null::uuid, array[v_total]);
  v_kinds text[] := array_fill(null::text, array[v_total]);
  v_first integer;
  v_own integer[];
  v_count integer;
  v_room integer;
begin
  if c.refusal is null then
    c := refuse_stale_targets(c, p_targets_sha256);
  end if;
  if c.refusal is not null then
    return c;
  end if;
  if not p_features <@ c.features then
    return refuse_features(c, p_features);
  end if;

  perform from account_meter a where a.account_id = c.account_id for update;
  -- As accept_captures, which checks once it has locked the meter; the hold of a move takes that lock too.
  if exists (select from account a where a.id = c.account_id and a.moving_at is not null) then
    c.refusal := 'SERVICE_UNAVAILABLE';
    c.key_state := 'moving';
    c.retry_after_seconds := 1;
    return c;
  end if;
  if p_idempotency_key is not null then
    c := find_replay(c, p_idempotency_key, p_request_sha256);
    if c.refusal is not null or c.replay_of is not null then
      return c;
    end if;
  end if;
  if p_cache_seconds is not null then
    for i in 1 .. v_total loop
      -- Members of this batch with the same cache key follow the first of them.
      v_first := array_position(p_cache_keys, p_cache_keys[i]);
      if v_first < i and v_kinds[v_first] is null then
        v_sources[i] := p_ids[v_first];
        v_kinds[i] := 'follows';
        continue;
      end if;
      v_source := find_shareable(c.account_id, p_cache_keys[i], p_cache_seconds, c.max_pending);
      if v_source.kind = 'full' then
        c.refusal := 'QUEUE_FULL';
        c.retry_after_seconds := 10;
        return c;
      end if;
      v_sources[i] := v_source.id;
      v_kinds[i] := v_source.kind;
    end loop;
  end if;
  v_own := array(select k.place from unnest(v_kinds) with ordinality as k (kind, place) where k.kind is null order by 1);
  v_count := cardinality(v_own);

  if v_count = 0 then
    c.used := read_used(c);
  else
    update account_meter a set pending = a.pending + v_count
     where a.account_id = c.account_id and a.pending + v_count <= c.max_pending;
    if not found then
      c.refusal := 'QUEUE_FULL';
      c.retry_after_seconds := 10;
      return c;
    end if;
    insert into usage as u (account_id, period, reserved)
    select c.account_id, c.period, v_count
     where c.usage_limit is null or v_count <= c.usage_limit or c.overage_price is not null
        on conflict (account_id, period) do update set reserved = u.reserved + v_count
     where c.usage_limit is null or c.overage_price is not null or u.reserved + u.settled + v_count <= c.usage_limit
    returning u.reserved + u.settled into c.used;
    if not found then
      update account_meter a set pending = a.pending - v_count where a.account_id = c.account_id;
      c.refusal := 'USAGE_LIMIT_EXCEEDED';
      c.used := read_used(c);
      return c;
    end if;
    perform warn_of_quota(c.account_id, c.period, c.used, v_count, c.usage_limit);
    select case when l.waiting = 0 then greatest(0, p_window * c.weight - l.admitted + l.processing) else 0 end into v_room
      from lane_meter l where l.account_id = c.account_id and l.pool = p_pool and l.lane = p_lane;
    v_room := least(v_count, coalesce(v_room, p_window * c.weight));
    perform nextval(('accepted_' || p_pool || '_' || p_lane)::regclass) from generate_series(1, v_count);
    insert into lane_meter as l (account_id, pool, lane, admitted, waiting)
    values (c.account_id, p_pool, p_lane, v_room, v_count - v_room)
        on conflict (account_id, pool, lane) do update
       set admitted = l.admitted + v_room, waiting = l.waiting + v_count - v_room;
  end if;

  c.created_at := clock_timestamp();
  c.admitted := v_count = 0 or v_room = v_count;
  c.admitted_ids := array(select p_ids[place] from unnest(v_own[:v_room]) as place);
  insert into batch (id, account_id, total, completed, created_at)
  values (p_batch_id, c.account_id, v_total, cardinality(array_positions(v_kinds, 'hit')), c.created_at);
  insert into capture (id, account_id, pool, lane, url, options, sealed, token_hash, budget_ms, period, retention_seconds,
                       created_at, webhook_url, cache_key, cache_seconds, batch_id, batch_index, traceparent, key_id,
                       request_id, part)
  select p_ids[i], c.account_id, p_pool, p_lane, p_urls[i], p_options[i]::json, p_sealed[i], p_token_hashes[i], p_budget_ms,
         c.period, c.retention_seconds, c.created_at, p_webhook_url, p_cache_keys[i], p_cache_seconds, p_batch_id, i - 1, p_traceparent,
         c.key_id, p_request_id, 'open'
    from unnest(v_own) as i;
  insert into outbox (capture_id, account_id, pool, lane, created_at, relay_at)
  select p_ids[i], c.account_id, p_pool, p_lane, c.created_at + (i - 1) * interval '1 microsecond',
         case when place <= v_room then c.created_at + p_relay_after_ms * interval '1 millisecond' end
    from unnest(v_own) with ordinality as o (i, place);
  for i in 1 .. v_total loop
    continue when v_kinds[i] is null;
    v_source.id := v_sources[i];
    v_source.kind := v_kinds[i];
    perform share_capture(v_source, c, p_ids[i], p_pool, p_lane, p_urls[i], p_options[i]::json, p_sealed[i],
                          p_token_hashes[i], p_budget_ms, p_webhook_url, p_cache_keys[i], p_cache_seconds, p_batch_id,
                          i - 1, p_traceparent, p_request_id);
  end loop;
  if p_idempotency_key is not null then
    perform keep_replay(c.account_id, p_idempotency_key, p_request_sha256, null, p_batch_id);
  end if;
  return c;
end
$$;
