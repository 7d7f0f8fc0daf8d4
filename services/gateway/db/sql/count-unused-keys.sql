-- API keys that are valid and have had no request for $1 days, at most 10,000.
select count(*)::integer as keys
  from (select from api_key k join account a on a.id = k.account_id
         where k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) and a.disabled_at is null
           and coalesce(k.last_used_at, k.created_at) < now() - make_interval(days => $1)
         limit 10000) as unused
