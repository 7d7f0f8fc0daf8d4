-- The keys among $1 whose links are served: key and account are valid, and it has a link secret.
select k.id, s.nonce, case when s.previous_expires_at > clock_timestamp() then s.previous_nonce end as "previousNonce"
  from api_key k
  join account a on a.id = k.account_id
  join link_secret s on s.key_id = k.id
 where k.id = any ($1::uuid[])
   and k.revoked_at is null
   and a.disabled_at is null
   and (k.expires_at is null or k.expires_at > clock_timestamp())
   and 'capture' = any (k.scopes)
