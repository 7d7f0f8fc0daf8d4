-- The operator's session $1 views no account from now on, which the audit log records for actor $2. No row if it viewed none.
with viewed as (
  select id, viewed_account_id from console_session where id = $1 and viewed_account_id is not null for update
), left_now as (
  update console_session s set viewed_account_id = null from viewed v where s.id = v.id)
insert into audit_entry (id, at, actor, action, target, detail)
select gen_random_uuid(), now(), $2, 'account.leave', viewed_account_id, '{}' from viewed
returning target
