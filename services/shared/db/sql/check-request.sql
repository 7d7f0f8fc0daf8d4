-- The first checks of every authenticated operation: the key, its domains and scopes, whether the account is being moved, the minute
-- count. Returns a rejection, never raises. accept_capture calls it too, so the checks and their order are defined only here. p_counted: this
-- request passed the minute limit in an earlier call, so it is neither counted nor limited again. p_account_id: an
-- operator or a session of the console acts for this account, without a key. p_scopes: the key needs one of them.
--
-- The key's last use is written once a minute, by the first of its concurrent requests: as the beginning of the minute,
-- or as the key's creation if that was later.
--
-- Lock order of all writers: api_key (one row), capture rows (by id, then their followers by id), outbox rows (by capture_id),
-- account_meter (by account_id), and only then usage, usage_day, lane_meter, batch, stored_object, capture_count, idempotency_key,
-- which belong to the accounts whose meters are locked and need no order. Every change to a meter of an account locks
-- its account_meter row, so accepts of one account are serial and its counts exact. accept_captures and check_requests take the meter of an account before
-- the row of its key, which they therefore take only if it is free, and the meters of several accounts, in order; none waits for another
-- account's lock, but for the statement that serves both, and in check_requests for one whose plan has just got its limit.

drop type if exists request_check cascade;
create type request_check as (
  refusal text,
  retry_after_seconds integer,
  -- The key was never created, or its row was deleted.
  key_unknown boolean,
  account_id uuid,
  -- Null for a session or an operator.
  key_id uuid,
  plan text,
  rate_limit integer,
  rate_remaining integer,
  rate_reset bigint,
  usage_limit integer,
  used bigint,
  usage_reset timestamptz,
  overage_price numeric,
  -- The plan's values that accept_capture needs, and the period that is charged.
  features text[],
  retention_seconds integer,
  max_pending integer,
  weight integer,
  period date,
  -- Set by accept_capture.
  created_at timestamptz,
  admitted boolean,
  -- The capture or batch that an earlier request with the same idempotency key was accepted as.
  replay_of uuid,
  -- How the capture shares the result of another: 'hit' or 'follows'.
  shared text,
  -- Set by accept_batch: the members to publish.
  admitted_ids uuid[],
  -- With INVALID_API_KEY, unless the key is unknown: 'revoked', 'expired' or 'disabled', as its account is, or 'moved', as it was to
  -- another installation. With SERVICE_UNAVAILABLE, unless the lists of targets are stale: 'moving' or 'moved'.
  key_state text,
  -- What the refusal names: the domains of the key, the scopes of which it has none, the features that the plan lacks,
  -- or the time at which the key was revoked or expired.
  grounds text[],
  -- With FEATURE_NOT_AVAILABLE: see cheapest_plan.
  sufficient_plan text,
  -- With SERVICE_UNAVAILABLE: see refuse_stale_targets.
  targets json,
  targets_sha256 bytea
);

-- Whether a key with these domains may be used from the pages of a host; null: the request names none.
create or replace function allows_host(p_domains text[], p_host text) returns boolean
language sql stable as $$
  select cardinality(p_domains) = 0 or exists (
    select from unnest(p_domains) as d (domain)
     where d.domain = lower(p_host)
        or (starts_with(d.domain, '*.') and length(p_host) >= length(d.domain)
            and right(lower(p_host), length(d.domain) - 1) = substr(d.domain, 2)))
$$;

create or replace function check_request(
  p_key_hash bytea, p_origin_host text, p_counted boolean, p_account_id uuid, p_scopes text[]
) returns request_check
language plpgsql as $$
declare
  c request_check;
  v_domains text[];
  v_scopes text[];
  v_used_at timestamptz;
  v_moving boolean;
  v_reads constant boolean := 'read' = any (p_scopes);
  v_now timestamptz := clock_timestamp();
  v_minute timestamptz;
  v_requests integer;
begin
  if p_account_id is null then
    select a.id, p.slug, p.rate_limit_per_minute, p.screenshots_per_month, p.overage_price,
           p.features, p.retention_seconds, p.max_pending, p.weight, a.moving_at is not null, k.id, k.domains, k.scopes, k.last_used_at
      into c.account_id, c.plan, c.rate_limit, c.usage_limit, c.overage_price,
           c.features, c.retention_seconds, c.max_pending, c.weight, v_moving, c.key_id, v_domains, v_scopes, v_used_at
      from api_key k join account a on a.id = k.account_id join plan p on p.slug = a.plan
     where k.key_hash = p_key_hash and k.revoked_at is null and a.disabled_at is null and (k.expires_at is null or k.expires_at > v_now);
  else
    select a.id, p.slug, p.rate_limit_per_minute, p.screenshots_per_month, p.overage_price,
           p.features, p.retention_seconds, p.max_pending, p.weight, a.moving_at is not null
      into c.account_id, c.plan, c.rate_limit, c.usage_limit, c.overage_price,
           c.features, c.retention_seconds, c.max_pending, c.weight, v_moving
      from account a join plan p on p.slug = a.plan where a.id = p_account_id and a.disabled_at is null;
  end if;
  if not found then
    c.refusal := 'INVALID_API_KEY';
    select case when k.revoked_at is not null then 'revoked' when k.expires_at <= v_now then 'expired'
                when a.moving_at is not null then 'moved' else 'disabled' end,
           array_remove(array[iso_time(coalesce(k.revoked_at, k.expires_at))], null)
      into c.key_state, c.grounds
      from api_key k join account a on a.id = k.account_id where k.key_hash = p_key_hash;
    c.key_unknown := not found;
    -- A router repeats reads where the account is now.
    if c.key_state = 'moved' and not v_reads then
      c.refusal := 'SERVICE_UNAVAILABLE';
      c.retry_after_seconds := 1;
    end if;
    return c;
  end if;

  if cardinality(v_domains) > 0 and not allows_host(v_domains, p_origin_host) then
    c.refusal := 'DOMAIN_NOT_ALLOWED';
    c.grounds := v_domains;
  elsif p_account_id is null and (v_scopes && p_scopes) is not true then
    c.refusal := 'FORBIDDEN';
    c.grounds := p_scopes;
  elsif v_moving and not v_reads then
    c.refusal := 'SERVICE_UNAVAILABLE';
    c.key_state := 'moving';
    c.retry_after_seconds := 1;
  end if;

  if p_account_id is null and c.refusal is null and coalesce(v_used_at, '-infinity') < date_trunc('minute', v_now) then
    -- Waits for no other transaction: it may be writing the same, and accept_captures has locked the account's meter.
    update api_key k set last_used_at = greatest(date_trunc('minute', v_now), k.created_at)
     where k.id in (select l.id from api_key l
                     where l.key_hash = p_key_hash and coalesce(l.last_used_at, '-infinity') < date_trunc('minute', v_now)
                       for no key update skip locked);
  end if;

  if c.rate_limit is not null then
    if c.refusal is null and not p_counted then
      -- The clock is read again, once, under the row's lock, so that no window is split. If the clock was set back, the
      -- count of a minute in the future continues in the current minute, and the caller need not wait for that minute.
      update account_meter m
         set (minute, requests) = (
               select n.minute, case when m.minute >= n.minute then m.requests + 1 else 1 end
                 from (select date_trunc('minute', clock_timestamp(), 'UTC') as minute offset 0) as n)
       where m.account_id = c.account_id
      returning m.minute, m.requests into v_minute, v_requests;
    else
      select least(m.minute, date_trunc('minute', v_now, 'UTC')), m.requests into v_minute, v_requests
        from account_meter m where m.account_id = c.account_id;
    end if;
    v_now := clock_timestamp();
    if v_minute is null or v_minute + interval '1 minute' <= v_now then
      v_minute := date_trunc('minute', v_now, 'UTC');
      v_requests := 0;
    end if;
    c.rate_remaining := greatest(0, c.rate_limit - v_requests);
    c.rate_reset := extract(epoch from v_minute)::bigint + 60;
    if v_requests > c.rate_limit and c.refusal is null and not p_counted then
      c.refusal := 'RATE_LIMIT_EXCEEDED';
      c.retry_after_seconds := greatest(1, ceil(c.rate_reset - extract(epoch from v_now)))::integer;
    end if;
  end if;

  c.period := date_trunc('month', v_now at time zone 'utc')::date;
  c.usage_reset := (c.period + interval '1 month') at time zone 'utc';
  select u.reserved + u.settled into c.used
    from usage u where u.account_id = c.account_id and u.period = c.period;
  c.used := coalesce(c.used, 0);
  return c;
end
$$;

-- Locks what is counted of an account. Without p_waits returns false, at once, if another transaction has locked it. True without one.
create or replace function lock_account(p_account uuid, p_waits boolean) returns boolean
language plpgsql as $$
begin
  if p_waits then
    perform from account_meter m where m.account_id = p_account for update;
    return true;
  end if;
  perform from account_meter m where m.account_id = p_account for update skip locked;
  return found or not exists (select from account_meter m where m.account_id = p_account);
end
$$;

-- Checks several requests in one call and transaction, each as check_request does by itself. The arrays are of one length, a text of
-- p_scopes is an array. Returns a row for each request in any order: `place` counts from 1. Accounts whose requests are counted are served
-- by id, so that concurrent calls take their locks in one order; those that another transaction has locked hold up no other one: their
-- requests are returned as `locked`, without an effect, and are to be sent again with p_waits, without those of other accounts.
create or replace function check_requests(
  p_waits boolean, p_key_hash bytea[], p_origin_host text[], p_account_id uuid[], p_scopes text[]
) returns table (place integer, locked boolean, outcome request_check)
language plpgsql as $$
declare
  r record;
  v_account uuid;
begin
  locked := false;
  for r in
    select u.*, p.account_id as account
      from unnest(p_key_hash, p_origin_host, p_account_id, p_scopes) with ordinality
        as u (key_hash, origin_host, account_id, scopes, place)
      left join lateral (
        select k.account_id
          from api_key k join account a on a.id = k.account_id join plan l on l.slug = a.plan
         where u.account_id is null and k.key_hash = u.key_hash and k.revoked_at is null
           and (k.expires_at is null or k.expires_at > clock_timestamp()) and l.rate_limit_per_minute is not null) as p on true
     order by account, u.place
  loop
    place := r.place;
    if r.account is distinct from v_account then
      v_account := r.account;
      locked := not lock_account(v_account, p_waits);
    end if;
    outcome := null;
    if not locked then
      outcome := check_request(r.key_hash, r.origin_host, r.account_id is not null, r.account_id, r.scopes::text[]);
    end if;
    return next;
  end loop;
end
$$;

-- The name of the cheapest plan that includes these features; null if no plan with a price does: those without one are not
-- on offer to everybody.
create or replace function cheapest_plan(p_features text[]) returns text
language sql stable as $$
  select p.name from plan p where p.features @> p_features and p.price_monthly is not null
   order by p.price_monthly, p.position limit 1
$$;

-- Refuses a request that uses these features, of which the plan lacks some.
create or replace function refuse_features(c request_check, p_features text[]) returns request_check
language plpgsql as $$
begin
  c.refusal := 'FEATURE_NOT_AVAILABLE';
  c.grounds := array(
    select f.feature from unnest(p_features) with ordinality as f (feature, place)
     where f.feature <> all (c.features) order by f.place);
  c.sufficient_plan := cheapest_plan(p_features);
  return c;
end
$$;

-- Refuses a capture that its gateway has sealed with other lists of targets than its account has: the gateway seals it anew, with
-- those returned.
create or replace function refuse_stale_targets(c request_check, p_targets_sha256 bytea) returns request_check
language plpgsql as $$
begin
  select a.targets, a.targets_sha256, 'SERVICE_UNAVAILABLE' into c.targets, c.targets_sha256, c.refusal
    from account a where a.id = c.account_id and a.targets_sha256 is distinct from p_targets_sha256;
  return c;
end
$$;
