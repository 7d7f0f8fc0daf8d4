-- The valid keys among the hashes $1, as check_request checks a key, but without domains, which depend on the request; and the
-- sessions that have not ended.
select k.key_hash as "keyHash"
  from api_key k
  join account a on a.id = k.account_id
 where k.key_hash = any ($1::bytea[])
   and k.revoked_at is null
   and a.disabled_at is null
   and (k.expires_at is null or k.expires_at > clock_timestamp())
union all
select s.token_hash
  from console_session s
  left join account a on a.id = s.account_id
 where s.token_hash = any ($1::bytea[])
   and a.disabled_at is null
   and s.idle_expires_at > clock_timestamp()
