-- Members of accounts, who sign in with OpenID Connect or with a link that an owner made.

create table member (
  id uuid primary key,
  account_id uuid not null constraint member_account_id_foreign references account (id) on delete cascade,
  -- In lower case.
  email text not null,
  role text not null,
  -- The person at the provider, by its `iss` and `sub`; null before the first sign-in with it.
  issuer text,
  subject text,
  -- Who added the member, as in audit_entry.
  added_by text not null,
  created_at timestamptz not null,
  last_sign_in_at timestamptz,
  constraint member_account_email_key unique (account_id, email),
  constraint member_account_subject_key unique (account_id, issuer, subject)
);
create index member_email on member (email);
create index member_subject on member (issuer, subject);

-- The member whose session or link it is, whose role it has, and with whom it ends; null: anybody to whom an operator gave a link.
alter table console_session add column member_id uuid
  constraint console_session_member_id_foreign references member (id) on delete cascade;
create index console_session_member on console_session (member_id);
alter table sign_in_link add column member_id uuid
  constraint sign_in_link_member_id_foreign references member (id) on delete cascade;
create index sign_in_link_member on sign_in_link (member_id);

-- Sign-ins that came back from the provider, until they could not come back again anyway: each signs in once.
create table used_sign_in (
  state_hash bytea primary key,
  expires_at timestamptz not null
);
create index used_sign_in_expires_at on used_sign_in (expires_at);
