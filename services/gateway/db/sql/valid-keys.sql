-- The places, from 1, of the authorizations that hold now: of keys, as check_request checks them, and of sessions that have not ended. A
-- hash $1 without an account in $2 is checked by itself. With one, it has to identify that account still, an operator's session by the
-- account that it views, and a key has to have one of the scopes $3, a text of an array, and to allow the host $4.
select r.place::int as place
  from unnest($1::bytea[], $2::uuid[], $3::text[], $4::text[]) with ordinality
    as r (key_hash, account_id, scopes, origin_host, place)
 where exists (
         select
           from api_key k
           join account a on a.id = k.account_id
          where k.key_hash = r.key_hash
            and k.revoked_at is null
            and a.disabled_at is null
            and (k.expires_at is null or k.expires_at > clock_timestamp())
            and (r.account_id is null
                 or (k.account_id = r.account_id and k.scopes && r.scopes::text[] and allows_host(k.domains, r.origin_host))))
    or exists (
         select
           from console_session s
           left join account a on a.id = coalesce(s.account_id, s.viewed_account_id)
          where s.token_hash = r.key_hash
            and s.idle_expires_at > clock_timestamp()
            and case when r.account_id is null then s.account_id is null or a.disabled_at is null
                     else a.id = r.account_id and a.disabled_at is null end)
