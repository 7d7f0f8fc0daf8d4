-- Which of the hashes $1 and ids $2 belong to an account here, valid or not: keys, sessions and sign-in links by hash, keys and captures
-- by id. Hashes are returned in base64.
select encode(k.key_hash, 'base64') as id from api_key k where k.key_hash = any ($1::bytea[])
union all
select encode(s.token_hash, 'base64') from console_session s where s.token_hash = any ($1::bytea[])
union all
select encode(l.token_hash, 'base64') from sign_in_link l where l.token_hash = any ($1::bytea[])
union all
select k.id::text from api_key k where k.id = any ($2::uuid[])
union all
select c.id::text from capture c where c.id = any ($2::uuid[])
