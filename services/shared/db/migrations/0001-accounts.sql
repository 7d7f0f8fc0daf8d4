-- Accounts with their keys, members, sessions and activity; what operators do; and what an installation knows of its own keys.

create table plan (
  slug text primary key,
  name text not null,
  screenshots_per_month integer,
  rate_limit_per_minute integer,
  retention_seconds integer not null,
  features text[] not null,
  overage_price numeric,
  max_api_keys integer,
  max_pending integer not null,
  weight integer not null,
  price_monthly numeric,
  currency text,
  position integer not null
);

create table account (
  id uuid primary key,
  name text not null,
  email text not null,
  plan text not null constraint account_plan_foreign references plan (slug),
  created_at timestamptz not null,
  disabled_at timestamptz,
  -- To erase: the ledger deletes what is the account's, a batch at a time, and then the account.
  erasing_at timestamptz,
  -- Since when it is being moved to another installation, which holds up its changes. It is not here if it is also disabled: not yet, or
  -- no longer.
  moving_at timestamptz,
  -- Which targets its captures may reach: {"allow": […], "deny": […]} in normal form, null if both are empty, and the SHA-256 of that
  -- text, by which a gateway knows whether it has them.
  targets json,
  targets_sha256 bytea
);
create index account_erasing on account (erasing_at) where erasing_at is not null;
create index account_moving on account (moving_at) where moving_at is not null;

-- Pages have room for the updates of last_used_at.
create table api_key (
  id uuid primary key,
  account_id uuid not null constraint api_key_account_id_foreign references account (id) on delete cascade,
  name text not null,
  prefix text not null,
  key_hash bytea not null unique,
  -- What it may do, some of capture, read and manage.
  scopes text[] not null default '{capture,read,manage}',
  domains text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- To the minute, but not before the creation; null before the first use.
  last_used_at timestamptz
) with (fillfactor = 70);
create index api_key_account on api_key (account_id);

-- Secrets of keys with which links that capture on demand are signed. A secret is derived from the pepper, the key's id and the nonce,
-- so that a copy of the database signs nothing.
create table link_secret (
  key_id uuid primary key constraint link_secret_key_id_foreign references api_key (id) on delete cascade,
  nonce bytea not null,
  created_at timestamptz not null,
  -- The secret before the latest rotation, valid until previous_expires_at; null if there is none.
  previous_nonce bytea,
  previous_expires_at timestamptz
);

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
  -- By the provider: a link does not decide in which account a person begins.
  last_sign_in_at timestamptz,
  constraint member_account_email_key unique (account_id, email),
  constraint member_account_subject_key unique (account_id, issuer, subject)
);
create index member_email on member (email);
create index member_subject on member (issuer, subject);

-- Links that sign in to the console once. A return from the provider makes one too: what begins a session is a click on a page that
-- names the account. Secrets of links and sessions are stored as hashes, as those of API keys. Those of operators belong to no account.
create table sign_in_link (
  token_hash bytea primary key,
  account_id uuid constraint sign_in_link_account_id_foreign references account (id) on delete cascade,
  -- Whose link it is, and with whom it ends; null: anybody to whom an operator gave it.
  member_id uuid constraint sign_in_link_member_id_foreign references member (id) on delete cascade,
  role text not null,
  expires_at timestamptz not null,
  -- Of an operator's link: the session that it starts, which the audit log names.
  session_id uuid,
  -- The person who returned from the provider, by its `iss` and `sub`.
  issuer text,
  subject text,
  constraint sign_in_link_owner_check
    check (case when role in ('operator', 'operator_read_only') then account_id is null and session_id is not null else account_id is not null end),
  constraint sign_in_link_person_check check ((issuer is null) = (subject is null))
);
create index sign_in_link_account on sign_in_link (account_id);
create index sign_in_link_member on sign_in_link (member_id);
create index sign_in_link_expires_at on sign_in_link (expires_at);

create table console_session (
  id uuid primary key,
  token_hash bytea not null constraint console_session_token_hash_key unique,
  account_id uuid constraint console_session_account_id_foreign references account (id) on delete cascade,
  -- Whose session it is, whose role it has, and with whom it ends; null: anybody to whom an operator gave a link.
  member_id uuid constraint console_session_member_id_foreign references member (id) on delete cascade,
  role text not null,
  -- The account that an operator looks into.
  viewed_account_id uuid constraint console_session_viewed_account_id_foreign references account (id) on delete set null,
  -- Whether the provider has identified the person. Owners may add anybody as a member and use the link, which leads into their own
  -- account alone.
  by_provider boolean not null default false,
  created_at timestamptz not null,
  -- To the minute.
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  -- When it ends unless a request extends it, never after expires_at.
  idle_expires_at timestamptz not null,
  -- Of the request that signed in, as received.
  address text not null,
  user_agent text not null,
  constraint console_session_owner_check
    check (case when role in ('operator', 'operator_read_only') then account_id is null
                else account_id is not null and viewed_account_id is null end)
) with (fillfactor = 70);
create index console_session_account on console_session (account_id);
create index console_session_member on console_session (member_id);
create index console_session_viewed_account on console_session (viewed_account_id) where viewed_account_id is not null;
create index console_session_idle_expires_at on console_session (idle_expires_at);

-- Sign-ins that came back from the provider, until they could not come back again anyway: each signs in once.
create table used_sign_in (
  state_hash bytea primary key,
  expires_at timestamptz not null
);
create index used_sign_in_expires_at on used_sign_in (expires_at);

-- What authenticated requests did, a partition for each day in UTC (see sql/keep-activity.sql). No foreign keys: a row outlives its
-- key and session, and an insert checks nothing.
create table activity (
  at timestamptz not null,
  id uuid not null,
  account_id uuid not null,
  key_id uuid,
  session_id uuid,
  -- The client's IPv4 address, or its IPv6 /64.
  client text not null,
  operation text not null,
  -- The id in the path, or that of the capture that the request created.
  object_id uuid,
  status smallint not null,
  code text
) partition by range (at);
create index activity_account on activity (account_id, at desc, id desc);

-- One change that somebody made to an account, a key, or the service. No foreign key: what was done to an account stays known after it
-- is erased.
create table audit_entry (
  id uuid primary key,
  at timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  detail json not null
);
create index audit_entry_at on audit_entry (at desc, id desc);
-- An account is erased by it.
create index audit_entry_target on audit_entry (target);

-- At most one row: while it exists nothing is accepted.
create table maintenance (
  id integer primary key default 1 constraint maintenance_id_check check (id = 1),
  since timestamptz not null
);

-- Pools that an operator has paused: workers begin none of their captures. A row whose time is over is removed by the ledger.
create table pool_pause (
  pool text primary key,
  since timestamptz not null,
  -- The actor as in the audit log.
  paused_by text not null,
  reason text not null,
  -- Null: until an operator resumes the pool.
  until timestamptz,
  -- When the queue began to hold the captures back; null: not yet.
  applied_at timestamptz
);

-- At most one row: an HMAC under the pepper that the keys are hashed with, so that no key is hashed with another.
create table key_pepper (
  id integer primary key default 1 constraint key_pepper_id_check check (id = 1),
  fingerprint bytea not null
);

-- Fingerprints of the keys with which an installation encrypts and signs what it stores, by setting: an account moves only to an
-- installation that has them.
create table key_fingerprint (
  setting text not null,
  fingerprint bytea not null,
  primary key (setting, fingerprint)
);

-- Which text of a replaceable SQL function the database holds.
create table sql_function (
  name text primary key,
  sha256 text not null
);
