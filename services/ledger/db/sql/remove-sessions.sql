-- The audit log records that they have ended.
with ended as (
  delete from console_session where id in (
      select id from console_session where idle_expires_at <= now() order by idle_expires_at limit $1 for update skip locked)
  returning id, account_id, role, member_id, idle_expires_at)
insert into audit_entry (id, at, actor, action, target, detail)
select gen_random_uuid(), now(), 'system', 'session.end', id,
       json_strip_nulls(json_build_object(
         'how', 'expired', 'at', iso_time(idle_expires_at), 'account', account_id, 'role', role, 'member', member_id))
  from ended
returning target
