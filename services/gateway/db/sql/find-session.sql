-- The session with token hash $1 unless it has ended, its account is disabled, or it is an operator's and $3 is false; that of a
-- member with the member's current role, an operator's with the account that it views. Its time of use is written once a minute, and
-- with it its end after $2 seconds without a request.
with found as materialized (
  select s.id, s.token_hash, a.id as account_id, a.name, a.plan, coalesce(m.role, s.role) as role, s.created_at, s.expires_at,
         s.idle_expires_at, s.last_seen_at, m.email
    from console_session s
    left join account a on a.id = coalesce(s.account_id, s.viewed_account_id) and a.disabled_at is null
    left join member m on m.id = s.member_id
   where s.token_hash = $1 and s.idle_expires_at > now() and (a.id is not null or s.account_id is null) and (s.account_id is not null or $3)
), used as (
  update console_session s
     set last_seen_at = date_trunc('minute', now()), idle_expires_at = least(s.expires_at, now() + make_interval(secs => $2))
    from found f where s.id = f.id and f.last_seen_at < date_trunc('minute', now())
  returning s.id, s.idle_expires_at)
select f.id, f.account_id as "accountId", f.name as "accountName", f.plan, f.role, f.email, iso_time(f.created_at) as "createdAt",
       iso_time(f.expires_at) as "expiresAt", iso_time(coalesce(u.idle_expires_at, f.idle_expires_at)) as "idleExpiresAt"
  from found f left join used u on u.id = f.id
