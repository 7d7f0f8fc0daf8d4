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
