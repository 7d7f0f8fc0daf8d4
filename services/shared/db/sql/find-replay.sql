-- Reads again what the account has used of its period: the previous accept may have committed after check_request
-- read it and before the lock was taken.
create or replace function read_used(c request_check) returns bigint
language sql as $$
  select coalesce((
    select u.reserved + u.settled from usage u where u.account_id = c.account_id and u.period = c.period), 0)
$$;

-- Finds the record of an account's idempotency key; nothing if the key is free: never used, used a day ago, or
-- claimed for over a minute by a request whose server is then presumed dead.
create or replace function find_kept(p_account_id uuid, p_key text) returns idempotency_key
language sql as $$
  select k.* from idempotency_key k
   where k.account_id = p_account_id and k.key = p_key
     and k.created_at > clock_timestamp() - case when k.serving then interval '1 minute' else interval '24 hours' end
$$;

-- Finds what an earlier request with this idempotency key was accepted as: sets `replay_of` if it was the same
-- request, `IDEMPOTENCY_MISMATCH` if it was different, nothing if the key is free. The caller has locked the
-- account's meter, so requests with one key are serialized.
create or replace function find_replay(c request_check, p_key text, p_request_sha256 bytea) returns request_check
language plpgsql as $$
declare
  v_kept constant idempotency_key := find_kept(c.account_id, p_key);
begin
  if v_kept.key is null then
    return c;
  end if;
  if v_kept.request_sha256 = p_request_sha256 then
    c.replay_of := coalesce(v_kept.capture_id, v_kept.batch_id);
    c.created_at := v_kept.created_at;
    c.admitted := false;
    c.used := read_used(c);
  else
    c.refusal := 'IDEMPOTENCY_MISMATCH';
  end if;
  return c;
end
$$;

-- Stores what a request was accepted as, replacing an expired record of the key.

create or replace function keep_replay(
  p_account_id uuid, p_key text, p_request_sha256 bytea, p_capture_id uuid, p_batch_id uuid
) returns void
language sql as $$
  insert into idempotency_key (account_id, key, request_sha256, capture_id, batch_id, created_at)
  values (p_account_id, p_key, p_request_sha256, p_capture_id, p_batch_id, clock_timestamp())
      on conflict (account_id, key) do update
     set request_sha256 = excluded.request_sha256, capture_id = excluded.capture_id, batch_id = excluded.batch_id,
         webhook_id = null, serving = false, answer = null, created_at = excluded.created_at
$$;
