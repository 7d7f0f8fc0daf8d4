-- The enabled accounts of the person of the session $1, whom the provider has identified in it, by name; at most $2.
select a.id, a.name, m.role, m.id = o.id as is_current
  from console_session s
  join member o on o.id = s.member_id
  join member m on m.issuer = o.issuer and m.subject = o.subject
  join account a on a.id = m.account_id
 where s.id = $1 and s.by_provider and a.disabled_at is null
 order by a.name, a.id limit $2
