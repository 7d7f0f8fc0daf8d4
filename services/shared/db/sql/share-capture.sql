-- Captures with the same cache key share one result. The one that runs is the leader; those accepted meanwhile follow it
-- and end with it; those accepted later, while the result may be shared, copy it (a hit). Neither is charged, counted as
-- pending, or given to a worker. Callers have locked the account's meter, so that no other call accepts, ends or promotes.

drop type if exists shareable cascade;
create type shareable as (id uuid, kind text);

-- Finds the capture whose result a new one may share: kind 'follows' or 'hit'; 'full' if it has a thousand followers (or as
-- many as the plan allows to wait); null if there is none. Of the completed captures only the newest eight are considered.
create or replace function find_shareable(
  p_account_id uuid, p_cache_key bytea, p_cache_seconds integer, p_max_pending integer
) returns shareable
language plpgsql as $$
declare
  v_newest capture;
  s shareable;
begin
  select * into v_newest from capture k
   where k.account_id = p_account_id and k.cache_key = p_cache_key order by k.created_at desc limit 1;
  if not found then
    return s;
  end if;

  if v_newest.status in ('pending', 'processing') then
    s.id := coalesce(v_newest.follows, v_newest.id);
    s.kind := case when (
      select count(*) from (select from capture f where f.follows = s.id limit 1000) as f
    ) < least(1000, p_max_pending) then 'follows' else 'full' end;
    return s;
  end if;

  -- Locks the object's row, so that it does not expire before the new capture owns it too.
  select k.id, 'hit' into s.id, s.kind
    from (
      select * from capture k
       where k.account_id = p_account_id and k.cache_key = p_cache_key and k.status = 'completed'
       order by k.created_at desc limit 8
    ) as k join stored_object o on o.key = k.object_key
   where k.completed_at + least(k.cache_seconds, p_cache_seconds) * interval '1 second' > clock_timestamp()
     and k.expires_at > clock_timestamp() and o.expires_at > clock_timestamp()
   order by k.completed_at desc limit 1 for update of o;
  return s;
end
$$;

-- Stores a capture that shares the result of `s`. A follower keeps its own sealed part, so that it can run by itself
-- if its leader is deleted; a hit ends here, and its object is kept until the last of its owners expires.
create or replace function share_capture(
  s shareable, c request_check,
  p_id uuid, p_pool text, p_lane text, p_url text, p_options json, p_sealed bytea, p_token_hash bytea, p_budget_ms integer,
  p_webhook_url text, p_cache_key bytea, p_cache_seconds integer, p_batch_id uuid, p_batch_index integer,
  p_traceparent text, p_request_id text
) returns void
language plpgsql as $$
declare
  v_hit capture;
begin
  if s.kind = 'follows' then
    insert into capture (id, account_id, pool, lane, url, options, sealed, token_hash, budget_ms, period, charge,
                         retention_seconds, created_at, webhook_url, cache_key, cache_seconds, batch_id, batch_index,
                         traceparent, key_id, request_id, follows, part)
    values (p_id, c.account_id, p_pool, p_lane, p_url, p_options, p_sealed, p_token_hash, p_budget_ms, c.period, 'free',
            c.retention_seconds, c.created_at, p_webhook_url, p_cache_key, p_cache_seconds, p_batch_id, p_batch_index,
            p_traceparent, c.key_id, p_request_id, s.id, 'open');
    return;
  end if;

  insert into capture (id, account_id, pool, lane, status, url, options, token_hash, budget_ms, period, charge,
                       retention_seconds, cached, created_at, started_at, completed_at, expires_at, webhook_url,
                       batch_id, batch_index, object_key, file_size, sha256, mime_type, width, height,
                       processing_time_ms, target_status, sealed_result, timings, files, traceparent,
                       key_id, request_id, part)
  select p_id, c.account_id, p_pool, p_lane, 'completed', p_url, p_options, p_token_hash, p_budget_ms, c.period, 'free',
         c.retention_seconds, true, c.created_at, c.created_at, c.created_at,
         c.created_at + c.retention_seconds * interval '1 second', p_webhook_url, p_batch_id, p_batch_index,
         k.object_key, k.file_size, k.sha256, k.mime_type, k.width, k.height,
         k.processing_time_ms, k.target_status, k.sealed_result, k.timings, k.files, p_traceparent,
         c.key_id, p_request_id, 'ended'
    from find_capture(s.id) as k
  returning * into v_hit;
  if not found then
    -- It was deleted in the meantime; the retry does not find it.
    raise serialization_failure;
  end if;
  update stored_object o
     set expires_at = greatest(o.expires_at, c.created_at + c.retention_seconds * interval '1 second')
   where o.key = v_hit.object_key;
  perform count_ended(array[v_hit]);
  perform queue_deliveries(array[v_hit]);
end
$$;

-- Promotes the oldest follower of a capture to an ordinary, waiting capture, which the other followers then follow.
-- It takes over the leader's charge, in the period in which that was reserved: one charge for all that share a
-- result, and none beyond a quota that has been used up meanwhile. Returns its id, or null without followers. To be
-- called before the leader is deleted, by a transaction that has locked the leader's row and none later in the lock
-- order. Locks the followers, then the account's meter, so that no follower accepted meanwhile is missed.
create or replace function promote_follower(p_leader uuid) returns uuid
language plpgsql as $$
declare
  v capture;
begin
  perform from capture f where f.follows = p_leader order by f.id for update;
  perform from account_meter m
    where m.account_id = (select k.account_id from capture k where k.id = p_leader) for update;
  select * into v from capture f where f.follows = p_leader order by f.created_at, f.id limit 1 for update;
  if not found then
    return null;
  end if;

  update capture c set follows = null, charge = 'reserved', period = k.period
    from capture k where c.id = v.id and k.id = p_leader;
  update capture set follows = v.id where follows = p_leader;
  insert into outbox (capture_id, account_id, pool, lane, created_at) values (v.id, v.account_id, v.pool, v.lane, v.created_at);
  update account_meter m set pending = m.pending + 1 where m.account_id = v.account_id;
  perform nextval(('accepted_' || v.pool || '_' || v.lane)::regclass);
  insert into lane_meter as l (account_id, pool, lane, waiting) values (v.account_id, v.pool, v.lane, 1)
      on conflict (account_id, pool, lane) do update set waiting = l.waiting + 1;
  return v.id;
end
$$;
