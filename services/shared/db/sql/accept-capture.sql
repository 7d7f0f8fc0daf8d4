-- Accepts or rejects a capture in one call: what check_request checks, lists of targets, features, idempotency key, shared result,
-- waiting bound, quota, window. A plain capture skips idempotency key and shared result. Returns a rejection instead of raising it,
-- so that the minute count is committed in any case.
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
  p_traceparent text default null, p_targets_sha256 bytea default null, p_request_id text default null
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
                            p_webhook_url, p_cache_key, p_cache_seconds, null, null, p_traceparent, p_request_id);
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
                       retention_seconds, created_at, webhook_url, cache_key, cache_seconds, traceparent, key_id, request_id, part)
  values (p_id, c.account_id, p_pool, p_lane, p_url, p_options, p_sealed, p_token_hash, p_budget_ms, c.period,
          c.retention_seconds, c.created_at, p_webhook_url, p_cache_key, p_cache_seconds, p_traceparent, c.key_id, p_request_id,
          'open');
  insert into outbox (capture_id, account_id, pool, lane, created_at, relay_at)
  values (p_id, c.account_id, p_pool, p_lane, c.created_at,
          case when c.admitted then c.created_at + p_relay_after_ms * interval '1 millisecond' end);
  if p_idempotency_key is not null then
    perform keep_replay(c.account_id, p_idempotency_key, p_request_sha256, p_id, null);
  end if;
  return c;
end
$$;

-- Accepts or rejects captures of several requests in one call and transaction, each as accept_capture does by itself. The arrays are of one
-- length. Returns a row for each request in any order: `place` counts from 1. Accounts are served by id, the requests of each in the
-- order of the arrays, so that concurrent calls take the locks of accounts in one order.
--
-- An account that another transaction has locked holds up no other one: its requests are returned as `locked`, without an effect, and are
-- to be sent again with p_waits, without those of other accounts.

create or replace function accept_captures(
  p_window integer, p_relay_after_ms integer, p_waits boolean,
  p_key_hash bytea[], p_origin_host text[], p_account_id uuid[], p_counted boolean[], p_features text[],
  p_id uuid[], p_pool text[], p_lane text[], p_url text[], p_options text[], p_sealed bytea[], p_token_hash bytea[], p_budget_ms integer[],
  p_webhook_url text[], p_cache_key bytea[], p_cache_seconds integer[], p_idempotency_key text[], p_request_sha256 bytea[],
  p_traceparent text[], p_targets_sha256 bytea[], p_request_id text[]
) returns table (place integer, locked boolean, outcome request_check)
language plpgsql as $$
declare
  r record;
  v_account uuid;
begin
  locked := false;
  for r in
    select u.*, coalesce(u.account_id, k.account_id) as account
      from unnest(p_key_hash, p_origin_host, p_account_id, p_counted, p_features, p_id, p_pool, p_lane, p_url, p_options, p_sealed,
                  p_token_hash, p_budget_ms, p_webhook_url, p_cache_key, p_cache_seconds, p_idempotency_key, p_request_sha256,
                  p_traceparent, p_targets_sha256, p_request_id) with ordinality
        as u (key_hash, origin_host, account_id, counted, features, id, pool, lane, url, options, sealed,
              token_hash, budget_ms, webhook_url, cache_key, cache_seconds, idempotency_key, request_sha256,
              traceparent, targets_sha256, request_id, place)
      -- A key that is not valid locks no account.
      left join api_key k on k.key_hash = u.key_hash and k.revoked_at is null
                         and (k.expires_at is null or k.expires_at > clock_timestamp())
     order by account, u.place
  loop
    place := r.place;
    if r.account is distinct from v_account then
      v_account := r.account;
      locked := not lock_account(v_account, p_waits);
    end if;
    outcome := null;
    if not locked then
      outcome := accept_capture(
        r.key_hash, r.origin_host, r.features::text[], false, p_window, p_relay_after_ms, r.id, r.pool, r.lane, r.url,
        r.options::json, r.sealed, r.token_hash, r.budget_ms, r.counted, r.webhook_url, r.cache_key, r.cache_seconds,
        r.idempotency_key, r.request_sha256, r.account_id, r.traceparent, r.targets_sha256, r.request_id);
    end if;
    return next;
  end loop;
end
$$;
