-- Ends the session $1 of the account $2, or with null an operator's, which the audit log records for actor $3, how $4, and a client in the
-- network $5. No row if there is no such session.
with ended as (
  delete from console_session where id = $1 and account_id is not distinct from $2 returning id, account_id, role, member_id)
insert into audit_entry (id, at, actor, action, target, detail)
select gen_random_uuid(), now(), $3, 'session.end', id,
       json_strip_nulls(json_build_object('how', $4::text, 'from', $5::text, 'account', account_id, 'role', role, 'member', member_id))
  from ended
returning target
