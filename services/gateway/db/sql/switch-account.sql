-- Replaces the session $1 by one with id $3 and token hash $4 and the same end, of the account $2, if the provider has identified the
-- person of the session, who is a member of it, and it is enabled. The audit log records it, for a client in the network $5. No row if not.
with allowed as (
  select s.id, m.id as member_id
    from console_session s
    join member o on o.id = s.member_id
    join member m on m.issuer = o.issuer and m.subject = o.subject
    join account a on a.id = m.account_id
   where s.id = $1 and s.by_provider and a.id = $2 and a.disabled_at is null
), ended as (
  delete from console_session where id in (select id from allowed)
  returning id, account_id, role, member_id, created_at, last_seen_at, expires_at, idle_expires_at, address, user_agent
), chosen as (
  update member m set last_sign_in_at = now() from allowed where m.id = allowed.member_id
  returning m.id, m.account_id, m.role, m.issuer, m.subject
), started as (
  insert into console_session
    (id, token_hash, account_id, role, member_id, by_provider, created_at, last_seen_at, expires_at, idle_expires_at, address, user_agent)
  select $3, $4, c.account_id, c.role, c.id, true, e.created_at, e.last_seen_at, e.expires_at, e.idle_expires_at, e.address, e.user_agent
    from ended e, chosen c
  returning id
), noted as (
  insert into audit_entry (id, at, actor, action, target, detail)
  select gen_random_uuid(), now(), 'session:' || n.id, 'session.switch', n.id,
         json_build_object('how', 'provider', 'from', $5::text, 'account', c.account_id, 'role', c.role, 'member', c.id, 'issuer', c.issuer,
                           'subject', c.subject, 'replaces', e.id)
    from started n, ended e, chosen c
  union all
  select gen_random_uuid(), now(), 'session:' || n.id, 'session.end', e.id,
         json_strip_nulls(json_build_object(
           'how', 'switched', 'from', $5::text, 'account', e.account_id, 'role', e.role, 'member', e.member_id))
    from started n, ended e)
select id from started
