-- Uses up the link with hash $1 and starts a session of its account, member and role: id $2 unless the link names one, token hash $3,
-- for at most $4 seconds, $5 without a request. Of concurrent uses of a link one deletes its row. No row if the link is unknown, used
-- or expired, an operator's while $8 is false, or its account is disabled. Nobody knows who uses a link: it does not decide in which
-- account a person begins whom the provider knows.
with link as (
  delete from sign_in_link where token_hash = $1 and expires_at > now() and (account_id is not null or $8)
  returning account_id, role, member_id, session_id
), seen as (
  update member m set last_sign_in_at = now() from link l where m.id = l.member_id and m.subject is null)
insert into console_session
  (id, token_hash, account_id, role, member_id, created_at, last_seen_at, expires_at, idle_expires_at, address, user_agent)
select coalesce(l.session_id, $2), $3, l.account_id, l.role, l.member_id, now(), date_trunc('minute', now()), now() + make_interval(secs => $4),
       now() + make_interval(secs => least($4, $5)), $6, $7
  from link l left join account a on a.id = l.account_id where a.disabled_at is null
returning id
