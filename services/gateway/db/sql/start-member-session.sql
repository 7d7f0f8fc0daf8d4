-- Uses up the sign-in with hash $1, which can come back for $2 seconds, finds the memberships of the person with issuer $3 and
-- subject $4, and starts a session of the one that was used last: id $6, token hash $7, for at most $8 seconds, $9 without a
-- request. A membership that is bound to nobody is bound to the person if its email address is $5, unless that is null; by whom it was
-- used before is not known. No row if the sign-in was used before; without an id if the person is a member of no account that is enabled.
with used as (
  insert into used_sign_in (state_hash, expires_at) values ($1, now() + make_interval(secs => $2))
  on conflict do nothing returning state_hash
), own as (
  update member m set issuer = $3, subject = $4 from used, member b
   where b.id = m.id
     and ((m.issuer = $3 and m.subject = $4)
          or (m.email = $5 and m.subject is null
              and not exists (select from member o where o.account_id = m.account_id and o.issuer = $3 and o.subject = $4)))
  returning m.id, m.account_id, m.role, case when b.subject is not null then m.last_sign_in_at end as used_at, m.created_at
), chosen as (
  select o.id, o.account_id, o.role from own o join account a on a.id = o.account_id
   where a.disabled_at is null order by o.used_at desc nulls last, o.created_at, o.id limit 1
), started as (
  insert into console_session
    (id, token_hash, account_id, role, member_id, by_provider, created_at, last_seen_at, expires_at, idle_expires_at, address, user_agent)
  select $6, $7, c.account_id, c.role, c.id, true, now(), date_trunc('minute', now()), now() + make_interval(secs => $8),
         now() + make_interval(secs => least($8, $9)), $10, $11
    from chosen c
  returning member_id)
select s.member_id as "memberId" from used u left join started s on true
