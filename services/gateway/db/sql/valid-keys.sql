-- Which of the keys with the hashes $1 are valid: as check_request judges a key, but for the domains, which are the request's.
select k.key_hash as "keyHash"
  from api_key k
  join account a on a.id = k.account_id
 where k.key_hash = any ($1::bytea[])
   and k.revoked_at is null
   and a.disabled_at is null
   and (k.expires_at is null or k.expires_at > clock_timestamp())
