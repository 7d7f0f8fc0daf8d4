-- Operators in the console: their links and sessions belong to no account, and a session may view one account at a time.

alter table sign_in_link
  alter column account_id drop not null,
  -- Of an operator's link: the session that it starts, which the audit log names.
  add column session_id uuid,
  add constraint sign_in_link_owner_check
    check (case when role in ('operator', 'operator_read_only') then account_id is null and session_id is not null else account_id is not null end);

alter table console_session
  alter column account_id drop not null,
  -- The account that an operator looks into.
  add column viewed_account_id uuid constraint console_session_viewed_account_id_foreign references account (id) on delete set null,
  add constraint console_session_owner_check
    check (case when role in ('operator', 'operator_read_only') then account_id is null
                else account_id is not null and viewed_account_id is null end);
create index console_session_viewed_account on console_session (viewed_account_id) where viewed_account_id is not null;
