-- Sign-in to the console: links that can be used once, and sessions. Their secrets are stored as hashes, as those of API keys.

create table sign_in_link (
  token_hash bytea primary key,
  account_id uuid not null constraint sign_in_link_account_id_foreign references account (id) on delete cascade,
  role text not null,
  expires_at timestamptz not null
);
create index sign_in_link_account on sign_in_link (account_id);
create index sign_in_link_expires_at on sign_in_link (expires_at);

create table console_session (
  id uuid primary key,
  token_hash bytea not null constraint console_session_token_hash_key unique,
  account_id uuid not null constraint console_session_account_id_foreign references account (id) on delete cascade,
  role text not null,
  created_at timestamptz not null,
  -- To the minute.
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  -- When it ends unless a request extends it, never after expires_at.
  idle_expires_at timestamptz not null,
  -- Of the request that signed in, as received.
  address text not null,
  user_agent text not null
) with (fillfactor = 70);
create index console_session_account on console_session (account_id);
create index console_session_idle_expires_at on console_session (idle_expires_at);

-- To the minute; null before the first use after this migration. Pages have room for its updates.
alter table api_key add column last_used_at timestamptz;
alter table api_key set (fillfactor = 70);
