-- Which of the hashes $1 and ids $2 belong to an account here, valid or not: keys, sessions and sign-in links by hash, keys and captures
-- by id. Hashes are returned in base64. An account that was moved away is not here, nor one that has not wholly arrived.
select n.id
  from (
    select encode(k.key_hash, 'base64') as id, k.account_id from api_key k where k.key_hash = any ($1::bytea[])
    union all
    select encode(s.token_hash, 'base64'), s.account_id from console_session s where s.token_hash = any ($1::bytea[])
    union all
    select encode(l.token_hash, 'base64'), l.account_id from sign_in_link l where l.token_hash = any ($1::bytea[])
    union all
    select k.id::text, k.account_id from api_key k where k.id = any ($2::uuid[])
    union all
    select c.id::text, c.account_id from capture c where c.id = any ($2::uuid[])
  ) as n
  left join account a on a.id = n.account_id
 where a.moving_at is null or a.disabled_at is null
