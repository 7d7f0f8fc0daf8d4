-- Claims the idempotency key of a request that accepts no capture. Returns 'claimed' if the caller has to serve the request,
-- 'kept' with the stored response of the same request, 'running' while that is still being served, 'mismatch' if the key
-- belongs to a different request. claimed_at identifies the claim: after a minute another request may take it over, and then
-- the first can neither store nor release it. p_capture_id, p_webhook_id: the resource with which the key is deleted.
-- Lock order: see check-request.sql.

create or replace function claim_answer(
  p_account_id uuid, p_key text, p_request_sha256 bytea, p_capture_id uuid, p_webhook_id uuid,
  out outcome text, out answer bytea, out claimed_at timestamptz
)
language plpgsql as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_kept idempotency_key;
begin
  perform refuse_while_moving(p_account_id);
  perform from account_meter m where m.account_id = p_account_id for update;
  v_kept := find_kept(p_account_id, p_key);
  if v_kept.request_sha256 <> p_request_sha256 then
    outcome := 'mismatch';
  elsif v_kept.serving then
    outcome := 'running';
  elsif v_kept.answer is not null then
    outcome := 'kept';
    answer := v_kept.answer;
  else
    outcome := 'claimed';
    claimed_at := v_now;
    insert into idempotency_key as k (account_id, key, request_sha256, capture_id, webhook_id, serving, created_at)
    values (p_account_id, p_key, p_request_sha256, p_capture_id, p_webhook_id, true, v_now)
        on conflict on constraint idempotency_key_pkey do update
       set request_sha256 = excluded.request_sha256, capture_id = excluded.capture_id, batch_id = null,
           webhook_id = excluded.webhook_id, serving = true, answer = null, created_at = excluded.created_at;
  end if;
end
$$;
