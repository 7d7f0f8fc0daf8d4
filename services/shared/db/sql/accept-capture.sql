-- Accepts or rejects a capture in one call: key, domain, minute count (check_request), features, idempotency key,
-- shared result, waiting bound, quota, window. A plain capture skips idempotency key and shared result. Returns a
-- rejection instead of raising it, so that the minute count is committed in any case.
--
-- Takes the locks of check-request.sql in that order and locks no row of another account. The window bounds the
-- captures that are admitted and have not begun: another is admitted only if there is room and no older capture of
-- its account, pool and lane is waiting.

create or replace function accept_capture(
  p_key_hash bytea, p_origin_host text, p_features text[], p_check_only boolean,
  p_window integer, p_relay_after_ms integer,
  p_id uuid, p_pool text, p_lane text, p_url text, p_options json, p_sealed bytea, p_token_hash bytea, p_budget_ms integer,
  p_counted boolean default false, p_webhook_url text default null,
  p_cache_key bytea default null, p_cache_seconds integer default null,
  p_idempotency_key text default null, p_request_sha256 bytea default null, p_account_id uuid default null,
  p_traceparent text default null, p_targets_sha256 bytea default null
) returns request_check
language plpgsql as $$
declare
  c request_check := check_request(p_key_hash, p_origin_host, p_counted, p_account_id, '{capture}');
  v_source shareable;
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
  if p_idempotency_key is not null or (p_cache_key is not null and not p_check_only) then
    perform from account_meter m where m.account_id = c.account_id for update;
  end if;
  if p_idempotency_key is not null then
    c := find_replay(c, p_idempotency_key, p_request_sha256);
    if c.refusal is not null or c.replay_of is not null then
      return c;
    end if;
  end if;
  if p_check_only then
    c.created_at := clock_timestamp();
    c.admitted := false;
    return c;
  end if;
  if p_cache_key is not null then
    v_source := find_shareable(c.account_id, p_cache_key, p_cache_seconds, c.max_pending);
    if v_source.kind = 'full' then
      c.refusal := 'QUEUE_FULL';
      c.retry_after_seconds := 10;
      return c;
    elsif v_source.kind is not null then
      c.created_at := clock_timestamp();
      c.admitted := false;
      c.shared := v_source.kind;
      c.used := read_used(c);
      perform share_capture(v_source, c, p_id, p_pool, p_lane, p_url, p_options, p_sealed, p_token_hash, p_budget_ms,
                            p_webhook_url, p_cache_key, p_cache_seconds, null, null, p_traceparent);
      if p_idempotency_key is not null then
        perform keep_replay(c.account_id, p_idempotency_key, p_request_sha256, p_id, null);
      end if;
      return c;
    end if;
  end if;

  update account_meter m set pending = m.pending + 1
   where m.account_id = c.account_id and m.pending < c.max_pending;
  if not found then
    c.refusal := 'QUEUE_FULL';
    c.retry_after_seconds := 10;
    return c;
  end if;

  insert into usage as u (account_id, period, reserved)
  select c.account_id, c.period, 1 where c.usage_limit is null or c.usage_limit > 0 or c.overage_price is not null
      on conflict (account_id, period) do update set reserved = u.reserved + 1
   where c.usage_limit is null or c.overage_price is not null or u.reserved + u.settled < c.usage_limit
  returning u.reserved + u.settled into c.used;
  if not found then
    update account_meter m set pending = m.pending - 1 where m.account_id = c.account_id;
    c.refusal := 'USAGE_LIMIT_EXCEEDED';
    -- The previous accept may have committed after check_request read the usage and before the lock was taken.
    select u.reserved + u.settled into c.used from usage u where u.account_id = c.account_id and u.period = c.period;
    c.used := coalesce(c.used, 0);
    return c;
  end if;

  perform warn_of_quota(c.account_id, c.period, c.used, 1, c.usage_limit);

  perform nextval(('accepted_' || p_pool || '_' || p_lane)::regclass);
  insert into lane_meter as l (account_id, pool, lane, admitted)
  values (c.account_id, p_pool, p_lane, 1)
      on conflict (account_id, pool, lane) do update
     set (admitted, waiting) = (
           select l.admitted + room::integer, l.waiting + 1 - room::integer
             from (select l.waiting = 0 and l.admitted - l.processing < p_window * c.weight as room) as r)
  returning l.waiting = 0 into c.admitted;

  -- Read under the account's lock, so that the times of an account's captures are in the order of their acceptance.
  c.created_at := clock_timestamp();
  insert into capture (id, account_id, pool, lane, url, options, sealed, token_hash, budget_ms, period,
                       retention_seconds, created_at, webhook_url, cache_key, cache_seconds, traceparent)
  values (p_id, c.account_id, p_pool, p_lane, p_url, p_options, p_sealed, p_token_hash, p_budget_ms, c.period,
          c.retention_seconds, c.created_at, p_webhook_url, p_cache_key, p_cache_seconds, p_traceparent);
  insert into outbox (capture_id, account_id, pool, lane, created_at, relay_at)
  values (p_id, c.account_id, p_pool, p_lane, c.created_at,
          case when c.admitted then c.created_at + p_relay_after_ms * interval '1 millisecond' end);
  if p_idempotency_key is not null then
    perform keep_replay(c.account_id, p_idempotency_key, p_request_sha256, p_id, null);
  end if;
  return c;
end
$$;
