-- The session with token hash $1 unless it has ended or its account is disabled; that of a member with the member's current role.
-- Its time of use is written once a minute, and with it its end after $2 seconds without a request.
with found as materialized (
  select s.id, s.token_hash, s.account_id, a.name, a.plan, coalesce(m.role, s.role) as role, s.created_at, s.expires_at,
         s.idle_expires_at, s.last_seen_at, m.email
    from console_session s join account a on a.id = s.account_id left join member m on m.id = s.member_id
   where s.token_hash = $1 and s.idle_expires_at > now() and a.disabled_at is null
), used as (
  update console_session s
     set last_seen_at = date_trunc('minute', now()), idle_expires_at = least(s.expires_at, now() + make_interval(secs => $2))
    from found f where s.id = f.id and f.last_seen_at < date_trunc('minute', now())
  returning s.id, s.idle_expires_at)
select f.id, f.account_id as "accountId", f.name as "accountName", f.plan, f.role, f.email, iso_time(f.created_at) as "createdAt",
       iso_time(f.expires_at) as "expiresAt", iso_time(coalesce(u.idle_expires_at, f.idle_expires_at)) as "idleExpiresAt"
  from found f left join used u on u.id = f.id
