-- Says what becomes of a request that accepts no capture and came with an idempotency key: 'claimed' where its caller is
-- to serve it, 'kept' with the answer of the same request before, 'running' while that is still being served (for a
-- minute: then its server is taken for dead), 'mismatch' where the key belongs to another request. p_capture_id: what it
-- is about, so that the key goes with it. Lock order: see check-request.sql.

create or replace function claim_answer(
  p_account_id uuid, p_key text, p_request_sha256 bytea, p_capture_id uuid, out outcome text, out answer bytea
)
language plpgsql as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_kept idempotency_key;
begin
  perform from account_meter m where m.account_id = p_account_id for update;
  select * into v_kept from idempotency_key k
   where k.account_id = p_account_id and k.key = p_key and k.created_at > v_now - interval '24 hours';
  if found and v_kept.request_sha256 <> p_request_sha256 then
    outcome := 'mismatch';
  elsif found and v_kept.answer is not null then
    outcome := 'kept';
    answer := v_kept.answer;
  elsif found and v_kept.created_at > v_now - interval '1 minute' then
    outcome := 'running';
  else
    outcome := 'claimed';
    insert into idempotency_key as k (account_id, key, request_sha256, capture_id, created_at)
    values (p_account_id, p_key, p_request_sha256, p_capture_id, v_now)
        on conflict on constraint idempotency_key_pkey do update
       set request_sha256 = excluded.request_sha256, capture_id = excluded.capture_id, batch_id = null, answer = null,
           created_at = excluded.created_at;
  end if;
end
$$;
