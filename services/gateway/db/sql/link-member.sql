-- Uses up the sign-in with hash $1, which can come back for $2 seconds, finds the memberships of the person with issuer $3 and
-- subject $4, and makes a link with token hash $6 for $7 seconds that signs in as the one that was used last. A membership that is bound
-- to nobody is bound to the person if its email address is $5, unless that is null; by whom it was used before is not known. No row if the
-- sign-in was used before; without an id if the person is a member of no account that is enabled.
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
), made as (
  insert into sign_in_link (token_hash, account_id, role, member_id, issuer, subject, expires_at)
  select $6, c.account_id, c.role, c.id, $3, $4, now() + make_interval(secs => $7) from chosen c
  returning member_id)
select m.member_id as "memberId" from used u left join made m on true
