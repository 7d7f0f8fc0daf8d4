-- Uses up the link with hash $1 and starts a session of its account, member and role: id $2 unless the link names one, token hash $3,
-- for at most $4 seconds, $5 without a request. Of concurrent uses of a link one deletes its row. It ends the session $9, which it
-- replaces; null: none. The audit log records both. No row if the link is unknown, used or expired, an operator's while $8 is false, or its
-- account is disabled. Nobody knows who uses a link that no return from the provider made: it does not decide in which account a person
-- begins whom the provider knows.
with link as (
  delete from sign_in_link where token_hash = $1 and expires_at > now() and (account_id is not null or $8)
  returning account_id, role, member_id, session_id, issuer, subject
), seen as (
  update member m set last_sign_in_at = now() from link l
   where m.id = l.member_id and (m.subject is null or l.subject is not null)
), started as (
  insert into console_session
    (id, token_hash, account_id, role, member_id, by_provider, created_at, last_seen_at, expires_at, idle_expires_at, address, user_agent)
  select coalesce(l.session_id, $2), $3, l.account_id, l.role, l.member_id, l.subject is not null, now(), date_trunc('minute', now()),
         now() + make_interval(secs => $4), now() + make_interval(secs => least($4, $5)), $6, $7
    from link l left join account a on a.id = l.account_id where a.disabled_at is null
  returning id, account_id, role, member_id
), replaced as (
  delete from console_session s using started n where s.id = $9 and s.id <> n.id returning s.id, s.account_id, s.role, s.member_id
), noted as (
  insert into audit_entry (id, at, actor, action, target, detail)
  select gen_random_uuid(), now(), case when n.account_id is null then 'operator:' else 'session:' end || n.id, 'session.begin', n.id,
         json_strip_nulls(json_build_object(
           'how', case when l.subject is null then 'link' else 'provider' end, 'from', $6::text, 'account', n.account_id, 'role', n.role,
           'member', n.member_id, 'issuer', l.issuer, 'subject', l.subject, 'replaces', r.id))
    from started n cross join link l left join replaced r on true
  union all
  select gen_random_uuid(), now(), case when n.account_id is null then 'operator:' else 'session:' end || n.id, 'session.end', r.id,
         json_strip_nulls(json_build_object(
           'how', 'replaced', 'from', $6::text, 'account', r.account_id, 'role', r.role, 'member', r.member_id))
    from replaced r cross join started n)
select id from started
