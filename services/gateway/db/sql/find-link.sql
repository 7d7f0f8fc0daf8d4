-- What a link with hash $1 leads to, without using it up: the account, null for an operator's, and the role. No row if it is unknown, used
-- or expired, an operator's while $2 is false, or its account is disabled.
select a.id as "accountId", a.name as "accountName", a.plan, coalesce(m.role, l.role) as role, m.email, iso_time(l.expires_at) as "expiresAt"
  from sign_in_link l
  left join account a on a.id = l.account_id
  left join member m on m.id = l.member_id
 where l.token_hash = $1 and l.expires_at > now() and (l.account_id is not null or $2) and a.disabled_at is null
