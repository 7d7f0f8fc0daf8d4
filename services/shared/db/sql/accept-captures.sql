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
  p_traceparent text[], p_targets_sha256 bytea[]
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
                  p_traceparent, p_targets_sha256) with ordinality
        as u (key_hash, origin_host, account_id, counted, features, id, pool, lane, url, options, sealed,
              token_hash, budget_ms, webhook_url, cache_key, cache_seconds, idempotency_key, request_sha256,
              traceparent, targets_sha256, place)
      left join api_key k on k.key_hash = u.key_hash
     order by account, u.place
  loop
    place := r.place;
    if r.account is distinct from v_account then
      v_account := r.account;
      if p_waits then
        perform from account_meter m where m.account_id = v_account for update;
      else
        perform from account_meter m where m.account_id = v_account for update skip locked;
        locked := not found and exists (select from account_meter m where m.account_id = v_account);
      end if;
    end if;
    outcome := null;
    if not locked then
      outcome := accept_capture(
        r.key_hash, r.origin_host, r.features::text[], false, p_window, p_relay_after_ms, r.id, r.pool, r.lane, r.url,
        r.options::json, r.sealed, r.token_hash, r.budget_ms, r.counted, r.webhook_url, r.cache_key, r.cache_seconds,
        r.idempotency_key, r.request_sha256, r.account_id, r.traceparent, r.targets_sha256);
    end if;
    return next;
  end loop;
end
$$;
