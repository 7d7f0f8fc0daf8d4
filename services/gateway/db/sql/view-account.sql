-- The operator's session $1 views account $2 from now on, which the audit log records for actor $3. No row if the account is
-- unknown or disabled.
with viewed as (
  update console_session s set viewed_account_id = a.id
    from account a where s.id = $1 and s.account_id is null and a.id = $2 and a.disabled_at is null
  returning a.id)
insert into audit_entry (id, at, actor, action, target, detail)
select gen_random_uuid(), now(), $3, 'account.view', id, '{}' from viewed
returning target
