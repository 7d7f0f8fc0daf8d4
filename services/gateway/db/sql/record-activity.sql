-- Stores entries, one in each position of the arrays. The time is that of the gateway, within an hour of this clock, so that there is
-- a partition for it. Nothing for an account that is erased: a row that came after its erasure would stay. Returns
-- those stored, with the key's id.
insert into activity (at, id, account_id, key_id, session_id, client, operation, object_id, status, code)
select least(greatest(e.at, now() - interval '1 hour'), now()), e.id, e.account_id, k.id, e.session_id, e.client, e.operation,
       e.object_id, e.status, e.code
  from unnest($1::timestamptz[], $2::uuid[], $3::uuid[], $4::bytea[], $5::uuid[], $6::text[], $7::text[], $8::uuid[], $9::smallint[],
              $10::text[])
       as e (at, id, account_id, key_hash, session_id, client, operation, object_id, status, code)
  join account a on a.id = e.account_id and a.erasing_at is null
  left join api_key k on k.key_hash = e.key_hash
returning id, key_id as "keyId"
